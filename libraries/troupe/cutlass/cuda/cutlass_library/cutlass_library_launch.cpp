// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library_launch.hpp>
#include <troupe/cutlass/cuda/kernel_vendor_groups.hpp>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_arguments.hpp>
#include <troupe/cutlass/vendor/refusals.hpp>

namespace troupe::cutlass {
namespace {

std::uint64_t rounded_up(std::uint64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }

// The addresses of the lists that a grouped product reads: shapes, addresses and strides between lines. Each list
// begins at a multiple of 256 bytes.
struct group_lists {
  group_lists(std::uint64_t memory, std::uint64_t groups) {
    auto take = [&, next = memory](std::uint64_t bytes) mutable {
      const std::uint64_t at = next;
      next += rounded_up(groups * bytes);
      end = next;
      return at;
    };
    shapes = take(3 * sizeof(std::int32_t));
    for (std::uint64_t& a : addresses) a = take(sizeof(std::uint64_t));
    for (std::uint64_t& l : lines) l = take(sizeof(std::int64_t));
  }
  std::uint64_t shapes = 0, addresses[4]{}, lines[4]{}, end = 0;
};

std::int64_t bytes_of_name(const char* type, std::int64_t elements) noexcept {
  return elements * vendor::bits_of(type) / 8;
}

// Sets the lists of groups that a launch reads. Returns the end of their memory.
std::uint64_t set_groups(vendor::launch& l, const problem& p, std::uint64_t memory) {
  const group_lists lists(memory, static_cast<std::uint64_t>(p.batch));
  l.groups = static_cast<int>(p.batch);
  const auto of = [](std::uint64_t at) { return reinterpret_cast<void*>(at); };
  l.shapes = static_cast<const int*>(of(lists.shapes));
  l.group_a = static_cast<const void* const*>(of(lists.addresses[0]));
  l.group_b = static_cast<const void* const*>(of(lists.addresses[1]));
  l.group_c = static_cast<const void* const*>(of(lists.addresses[2]));
  l.group_d = static_cast<void* const*>(of(lists.addresses[3]));
  l.group_a_line = static_cast<const long long*>(of(lists.lines[0]));
  l.group_b_line = static_cast<const long long*>(of(lists.lines[1]));
  l.group_c_line = static_cast<const long long*>(of(lists.lines[2]));
  l.group_d_line = static_cast<const long long*>(of(lists.lines[3]));
  return lists.end;
}

// Enqueues the kernel that makes the lists.
result<void> list_groups(const problem& p, const cutlass_library_execution_plan& execution, const vendor::launch& l,
                         std::uint64_t memory, std::uint64_t wrong, CUstream stream) {
  const vendor::kernel_variant& c = *execution.variant;
  const group_lists lists(memory, static_cast<std::uint64_t>(p.batch));
  kernel_arguments::vendor_groups g{};
  g.sizes = reinterpret_cast<const std::int32_t*>(p.groups.sizes), g.wrong = reinterpret_cast<std::int32_t*>(wrong);
  g.rows = p.m, g.groups = l.groups, g.n = l.n, g.k = l.k, g.packed = p.groups.packed ? 1 : 0;
  g.shapes = reinterpret_cast<std::int32_t*>(lists.shapes);
  const auto matrix = [&](std::size_t i, const void* first, const char* type, std::int64_t line, std::int64_t group,
                          bool has_rows) {
    g.matrices[i] = {reinterpret_cast<std::uint64_t>(first),
                     has_rows ? bytes_of_name(type, line) : 0,
                     bytes_of_name(type, group),
                     line,
                     reinterpret_cast<std::uint64_t*>(lists.addresses[i]),
                     reinterpret_cast<std::int64_t*>(lists.lines[i])};
  };
  const auto group_stride = [&](std::int64_t batch) { return p.groups.packed ? 0 : batch; };
  matrix(0, l.a, c.a, l.a_line, group_stride(l.a_batch), true), matrix(1, l.b, c.b, l.b_line, l.b_batch, false);
  matrix(2, l.c, c.c, l.c_line, group_stride(l.c_batch), true),
      matrix(3, l.d, c.d, l.d_line, group_stride(l.d_batch), true);
  return cuda::launch(*execution.groups, cuda::kernel<"vendor_groups">, {1, 1, 1}, {256, 1, 1}, stream, "cutlass", g);
}

// Launches the kernel. If the launch failed because the GPU is lost, reports that.
result<void> enqueue_variant(const vendor::kernel_variant& c, const vendor::launch& l, std::uint64_t memory,
                             std::uint64_t bytes, CUstream stream) {
  auto done = vendor::enqueue(c, l, reinterpret_cast<void*>(memory), static_cast<long long>(bytes), stream);
  if (done) return done;
  const CUresult state = ::cuStreamQuery(stream);
  TROUPE_TRY(cuda::done_on(stream, "cutlass", c.name, state == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : state));
  return done;
}

error no_epilogue(const vendor::kernel_variant& c) {
  return error(
      reaction::fatal, "cutlass",
      cat(c.name, ": the kernel cannot compute the epilogue of the request for which it was chosen; report this ",
          "defect of Troupe"));
}

}  // namespace

result<cutlass_library_execution_plan> cutlass_library_execution_plan_of(const problem& requested,
                                                                         const kernel_signature& f, const candidate& c,
                                                                         cutlass_library& library) {
  cutlass_library_execution_plan execution{
      .variant = c.variant, .signature = f, .swapped = c.plan.swapped == decision::yes, .band = c.plan.band};
  const auto e = cutlass_library_epilogue_of(f);
  if (!e) return no_epilogue(*c.variant);
  execution.epilogue = *e;
  const problem p = execution.swapped ? requested.swapped() : requested;
  vendor::launch l = launch_of(*c.variant, p, f, *e);
  l.swizzle = execution.band;
  std::uint64_t lists = 0;
  if (p.groups.sizes != 0) {
    lists = set_groups(l, p, 0);
    execution.groups = TROUPE_TRY(library.groups());
  }
  execution.own_bytes = rounded_up(static_cast<std::uint64_t>(c.variant->workspace_bytes(&l)));
  execution.bytes = execution.own_bytes + lists;
  TROUPE_TRY(library.check_parameters(*c.variant));
  return execution;
}

result<cutlass_library_execution_plan> cutlass_library_execution_plan_of(const convolution_problem& p,
                                                                         const candidate& c, cutlass_library& library) {
  cutlass_library_execution_plan execution{.variant = c.variant, .signature = signature_of(as_product(p))};
  const auto e = cutlass_library_epilogue_of(execution.signature);
  if (!e) return no_epilogue(*c.variant);
  execution.epilogue = *e;
  const vendor::launch l = launch_of(p, execution.signature, *e);
  execution.own_bytes = execution.bytes = rounded_up(static_cast<std::uint64_t>(c.variant->workspace_bytes(&l)));
  TROUPE_TRY(library.check_parameters(*c.variant));
  return execution;
}

result<void> enqueue(const problem& requested, const cutlass_library_execution_plan& execution, std::uint64_t memory,
                     std::uint64_t wrong, CUstream stream) {
  const problem p = execution.swapped ? requested.swapped() : requested;
  vendor::launch l = launch_of(*execution.variant, p, execution.signature, execution.epilogue);
  l.swizzle = execution.band;
  if (p.groups.sizes != 0) {
    set_groups(l, p, memory + execution.own_bytes);
    TROUPE_TRY(list_groups(p, execution, l, memory + execution.own_bytes, wrong, stream));
  }
  return enqueue_variant(*execution.variant, l, memory, execution.own_bytes, stream);
}

result<void> enqueue(const convolution_problem& p, const cutlass_library_execution_plan& execution,
                     std::uint64_t memory, CUstream stream) {
  return enqueue_variant(*execution.variant, launch_of(p, execution.signature, execution.epilogue), memory,
                         execution.own_bytes, stream);
}

}  // namespace troupe::cutlass
