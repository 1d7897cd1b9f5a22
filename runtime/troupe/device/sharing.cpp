// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory of a device that others use too.
#include <troupe/device/core.hpp>
#include <troupe/device/device.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {

result<shared_memory> device::export_range(const memory_range& r) const { return core_->exchange.export_memory(r); }
result<addressed_memory> device::address_range(const memory_range& r) const { return core_->exchange.address_of(r); }

memory_range device::import_range(shared_memory from, std::size_t element_bytes, std::size_t alignment) const {
  const std::uint64_t bytes = from.bytes;
  auto made = core_->exchange.import_memory(std::move(from), element_bytes, alignment);
  if (!made) return {core_->memory.failed_buffer(bytes, made.error()), 0, bytes};
  return std::move(*made);
}

memory_range device::adopt_range(std::byte* data, extent bytes, std::size_t alignment,
                                 std::shared_ptr<const void> keep) const {
  auto made = core_->exchange.adopt_memory(data, bytes, alignment, std::move(keep));
  if (!made) return {core_->memory.failed_buffer(0, made.error()), 0, 0};
  return std::move(*made);
}

result<void> device::keep_range(const memory_range& r) const {
  if (!r.owner)
    return error(reaction::caller_bug, "memory",
                 "keep_content: the buffer is empty (never allocated, or moved from); expected one of " + name());
  if (r.owner->owner != owner())
    return error(reaction::caller_bug, "memory", "keep_content: the buffer belongs to another device than " + name());
  core_->answers.drive();  // what has failed by now is known
  auto kept = core_->memory.keep(*r.owner.get(), r.address, r.address + r.bytes);
  if (kept) return {};
  error::details d = kept.error().all();
  d.text = "keep_content: the buffer is not as it was before: " + d.text;
  return error(std::move(d));
}

pending<void> device::lend_range(const memory_range& r) const {
  return ask(memory::lend{.target = inout<std::byte>(r), .bytes = r.bytes});
}

pending<void> device::take_back_range(const memory_range& r) const {
  return ask(memory::take_back{.target = out<std::byte>(r), .bytes = r.bytes});
}

}  // namespace troupe
