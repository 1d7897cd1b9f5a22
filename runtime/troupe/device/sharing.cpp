// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

result<shared_memory> export_memory(const device& gpu, const memory_range& r) {
  device_core& core = *device_access::core(gpu);
  if (core.admission.left()) return core.admission.refusal();
  return core.exchange.export_memory(r);
}

result<addressed_memory> address(const device& gpu, const memory_range& r) {
  device_core& core = *device_access::core(gpu);
  if (core.admission.left()) return core.admission.refusal();
  return core.exchange.address_of(r);
}

memory_range import_memory(const device& gpu, shared_memory from, std::size_t element_bytes, std::size_t alignment) {
  device_core& core = *device_access::core(gpu);
  const std::uint64_t bytes = from.bytes;
  if (core.admission.left()) return {core.memory.failed_buffer(bytes, core.admission.refusal()), 0, bytes};
  auto made = core.exchange.import_memory(std::move(from), element_bytes, alignment);
  if (!made) return {core.memory.failed_buffer(bytes, made.error()), 0, bytes};
  return std::move(*made);
}

memory_range adopt_memory(const device& gpu, std::byte* data, extent bytes, std::size_t alignment,
                          std::shared_ptr<const void> keep) {
  device_core& core = *device_access::core(gpu);
  if (core.admission.left()) return {core.memory.failed_buffer(0, core.admission.refusal()), 0, 0};
  auto made = core.exchange.adopt_memory(data, bytes, alignment, std::move(keep));
  if (!made) return {core.memory.failed_buffer(0, made.error()), 0, 0};
  return std::move(*made);
}

pending<void> lend(const device& gpu, const memory_range& r) {
  return gpu.ask(memory::lend{.target = inout<std::byte>(r), .bytes = r.bytes});
}

pending<void> take_back(const device& gpu, const memory_range& r) {
  return gpu.ask(memory::take_back{.target = out<std::byte>(r), .bytes = r.bytes});
}

}  // namespace troupe::detail
