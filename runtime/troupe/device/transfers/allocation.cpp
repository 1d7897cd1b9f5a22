// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/library_access.hpp>
#include <troupe/device/transfers/allocation.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

std::string too_few(extent count, std::size_t element_bytes, int least) {
  const std::int64_t n = count.value();
  return cat("count is ", n, " elements of ", element_bytes, element_bytes == 1 ? " byte" : " bytes",
             "; expected at least ", least);
}

namespace {

// Returns memory that `make()` allocates. `make()` is called again if memory was short and some may have been released.
template <class Make>
memory_range made_by(device_core& core, memory_kind kind, std::uint64_t bytes, Make&& make) {
  result<block_ref> made = make();
  if (!made && made.error().reaction() == reaction::retry_later) {
    core.completion.drive();  // finished requests may still hold buffers
    made = make();
  }
  if (!made) {
    core.memory.count_failure(kind);
    return {core.memory.failed_buffer(bytes, made.error()), 0, bytes};
  }
  const std::uint64_t address = (*made)->address;
  return {std::move(*made), address, bytes};
}

}  // namespace

memory_range allocate(device_core& core, memory_kind kind, extent count, std::size_t element_bytes,
                      const alloc_options& o) {
  const extent bytes = count * element_bytes;
  device_memory& memory = core.memory;
  auto refused = [&](std::string text) {
    return memory_range{memory.failed_buffer(0, error(reaction::caller_bug, "memory", std::move(text))), 0, 0};
  };
  if (bytes.overflowed()) return refused("alloc: the size does not fit 64 bits");
  if (bytes < 0) return refused("alloc: " + too_few(count, element_bytes, 0));
  const auto n = static_cast<std::uint64_t>(bytes.value());
  if (core.admission.refusing())
    return {memory.failed_buffer(n, core.admission.refusal()), 0, n};  // no request could use the memory
  if (o.sealable && kind != memory_kind::device)
    return refused(
        "alloc_host: sealable is true, but the application itself can write a host_buffer at any time; use "
        "alloc");
  const memory_range r =
      made_by(core, kind, n, [&] { return memory.allocate(kind, n, o.alignment, o.quota, o.sealable); });
  if (kind != memory_kind::sent && r.address != 0) core.quarantine.is_fresh(r);
  return r;
}

memory_range allocate_for_upload(device_core& core, std::uint64_t bytes) {
  if (core.admission.refusing()) return {core.memory.failed_buffer(bytes, core.admission.refusal()), 0, bytes};
  return made_by(core, memory_kind::sent, bytes, [&] { return core.memory.allocate_for_upload(bytes); });
}

void zero(const device& gpu, const memory_range& r) {
  (void)gpu.tell(memory::fill{.target = out<std::byte>(r), .bytes = r.bytes, .pattern = {}, .pattern_bytes = 1});
}

memory_range alloc(const device& gpu, extent count, std::size_t element_bytes, const alloc_options& o) {
  memory_range r = allocate(*device_access::core(gpu), memory_kind::device, count, element_bytes, o);
  if (o.zeroed && r.address != 0 && r.bytes != 0) zero(gpu, r);
  return r;
}

memory_range alloc_host(const device& gpu, extent count, std::size_t element_bytes, const alloc_options& o) {
  memory_range r = allocate(*device_access::core(gpu), memory_kind::host, count, element_bytes, o);
  if (o.zeroed && r.address != 0) std::memset(r.owner->host, 0, r.bytes);
  return r;
}

}  // namespace troupe::detail

namespace troupe {

memory_range library_access::alloc_sent(extent bytes) const {
  return detail::allocate(*device_.core_, memory_kind::sent, bytes, 1, {});
}

}  // namespace troupe
