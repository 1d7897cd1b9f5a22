// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/kernel/engine/host/programs.hpp>
#include <troupe/kernel/engine/match.hpp>

namespace troupe::cuda_on_host {

kernel::attributes attributes_of(const loaded_kernel& k) {
  kernel::attributes a{.name = k.name,
                       .max_threads = k.attributes.max_threads,
                       .static_shared_bytes = k.attributes.static_shared_bytes,
                       .local_bytes = k.attributes.stack_bytes,
                       .execution = std::string(to_string(k.attributes.how)),
                       .parameters = k.parameters};
  if (!k.attributes.reason.empty()) a.execution += ": " + k.attributes.reason;
  return a;
}

}  // namespace troupe::cuda_on_host

namespace troupe::kernel {
namespace {

cuda_on_host::dim host_dim(const dimensions& d) noexcept {
  return {static_cast<std::uint32_t>(d.x.value()), static_cast<std::uint32_t>(d.y.value()),
          static_cast<std::uint32_t>(d.z.value())};
}

}  // namespace

static error gpus_only(std::string_view request, const std::string& text) {
  return error(reaction::unsupported, "kernel", std::string(request) + ": " + text);
}

static std::string text_of(const dimensions& d) {
  return cat("{", d.x.value(), ", ", d.y.value(), ", ", d.z.value(), "}");
}

static result<void> check_cluster(const dimensions& cluster, std::string_view request) {
  if (cluster == dimensions(1)) [[likely]]
    return {};
  return gpus_only(request,
                   "cluster is " + text_of(cluster) +
                       ", but the host engine does not guarantee that the blocks of a grid run at the same "
                       "time, so they cannot use each other's shared memory; launch without clusters, or on a GPU");
}

result<void> host_programs::run(const program_root& root, const launch_order& l, call&) {
  TROUPE_TRY(check_cluster(l.cluster, l.request));
  if (l.shared_carveout >= 0) [[unlikely]]
    return gpus_only(l.request, cat("shared_carveout is ", l.shared_carveout,
                                    ", but the host engine has no memory to divide between cache and shared memory; "
                                    "leave it at -1"));
  if (l.cooperative) [[unlikely]]
    return error(reaction::unsupported, "kernel",
                 std::string(l.request) +
                     ": cooperative is true, but the host engine does not guarantee that the blocks of a grid run at "
                     "the same time, so they cannot wait for each other; split it into several launches at each grid "
                     "barrier");
  if (const auto map = first_map_in(l.values)) [[unlikely]]
    return gpus_only(l.request,
                     cat("argument ", *map,
                         " is a tensor map, but the host engine has no tensor memory accelerator; copy "
                         "through shared memory in the kernel, or launch on a GPU of capability 9.0 or newer"));
  const auto found = TROUPE_TRY(find_kernel(root, l.kernel, l.request));
  const cuda_on_host::loaded_kernel& k = *found.kernel;
  argument_frame frame;
  TROUPE_TRY(frame.fill(l.values, k.name, k.parameters, l.request));
  return launcher_.launch(k, host_dim(l.grid), host_dim(l.block), static_cast<std::uint64_t>(l.shared_bytes.value()),
                          frame.addresses(), {.flush_to_zero = found.image->flush_to_zero, .request = l.request});
}

// A thread runs one block at a time, of any size, so the best block is the largest that the kernel allows.
result<occupancy> host_programs::occupancy_of(const program_root& root, const occupancy_question& q) {
  TROUPE_TRY(check_cluster(q.cluster, q.request));
  auto program = TROUPE_TRY(find(root, q.request));
  const auto kernel = TROUPE_TRY(program->kernel(q.kernel, q.request));
  const cuda_on_host::dim block = host_dim(q.block);
  const bool fits = static_cast<bool>(cuda_on_host::check_launch(
      *kernel, cuda_on_host::dim{}, block, static_cast<std::uint64_t>(q.shared_bytes.value()), {.request = q.request}));
  return occupancy{.blocks = fits ? 1u : 0u, .processors = static_cast<std::uint32_t>(launcher_.threads())};
}

}  // namespace troupe::kernel
