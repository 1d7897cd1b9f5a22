// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/device/transfers/allocation.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

memory_range alloc_managed(const device& gpu, extent count, std::size_t element_bytes, const alloc_options& o) {
  device_core& core = *device_access::core(gpu);
  const extent bytes = count * element_bytes;
  device_memory& memory = core.memory;
  const auto refused = [&](std::string text) {
    return memory_range{
        memory.failed_buffer(0, error(reaction::caller_bug, "memory", "alloc_managed: " + std::move(text))), 0, 0};
  };
  if (bytes.overflowed()) return refused("the size does not fit 64 bits");
  if (bytes < 1) return refused(too_few(count, element_bytes, 1));
  if (o.sealable) return refused("sealable is true, but managed memory does not survive a fault; use alloc");
  if (o.alignment == 0 || (o.alignment & (o.alignment - 1)) != 0 || o.alignment > 4096)
    return refused(cat("alignment is ", o.alignment, "; expected a power of two up to 4096"));
  const auto n = static_cast<std::uint64_t>(bytes.value());
  if (core.admission.left()) return {memory.failed_buffer(n, core.admission.refusal()), 0, n};
  auto made = core.exchange.make_managed(n, o.quota);
  if (!made) {
    memory.count_failure(memory_kind::device);
    return {memory.failed_buffer(n, made.error()), 0, n};
  }
  if (o.zeroed) zero(gpu, *made);
  return std::move(*made);
}

pending<void> prefetch(const device& gpu, const memory_range& r, managed_place to, const call_options& o) {
  return gpu.ask(memory::prefetch{.range = in<std::byte>(r), .bytes = r.bytes, .to = to}, o);
}

pending<void> advise(const device& gpu, const memory_range& r, managed_advice what, managed_place where,
                     const call_options& o) {
  return gpu.ask(memory::advise{.range = in<std::byte>(r), .bytes = r.bytes, .what = what, .where = where}, o);
}

pending<managed_range> managed(const device& gpu, const memory_range& r, const call_options& o) {
  return gpu.ask(memory::look_at_managed{.range = in<std::byte>(r), .bytes = r.bytes}, o);
}

}  // namespace troupe::detail
