// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <troupe/memory/buffer.hpp>

namespace troupe::detail {
namespace {

memory_range refused(const memory_range& range, std::uint64_t bytes, std::string text) {
  return {range.owner->owner->stillborn(bytes, error(reaction::caller_bug, "memory", std::move(text))), 0, bytes};
}

std::string number(extent e) { return e.overflowed() ? "(overflow)" : std::to_string(e.value()); }

}  // namespace

extent size_of(const memory_range& range, std::size_t element_bytes) noexcept { return range.bytes / element_bytes; }

memory_range slice_of(const memory_range& range, extent first, extent count, std::size_t element_bytes) {
  if (!range.owner) return {};
  const extent have = size_of(range, element_bytes), end = first + count;
  if (first < 0 || count < 1 || end > have || end.overflowed()) {
    return refused(range, count < 1 ? 0 : static_cast<std::uint64_t>(count.value()),
                   "slice: first " + number(first) + ", count " + number(count) +
                       "; expected at least 1 element within the " + number(have) + " of the buffer");
  }
  const auto bytes = static_cast<std::uint64_t>(first.value()) * element_bytes;
  return {range.owner, range.address + bytes, static_cast<std::uint64_t>(count.value()) * element_bytes};
}

memory_range reinterpreted(const memory_range& range, std::size_t element_bytes) {
  if (!range.owner) return {};
  if (range.bytes % element_bytes != 0 || range.address % element_bytes != 0) {
    return refused(range, range.bytes,
                   "as: " + std::to_string(range.bytes) + " bytes at an offset that is not a multiple of " +
                       std::to_string(element_bytes) + "; expected size and offset that the new element type divides");
  }
  return range;
}

std::optional<error> why_stale(const memory_range& range) {
  if (!range.owner) return error(reaction::caller_bug, "memory", "an empty buffer (never allocated, or moved from)");
  return range.owner->owner->stale_cause(*range.owner.get(), range.address, range.address + range.bytes);
}

}  // namespace troupe::detail
