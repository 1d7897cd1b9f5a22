// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/internal/refused_view.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::detail {
namespace {

// Returns the size in bytes of a slice with that number of elements, whether or not it is valid.
std::uint64_t bytes_of(extent count, std::size_t element_bytes) noexcept {
  if (count < 1) return 0;
  const extent bytes = count * element_bytes;
  return static_cast<std::uint64_t>(bytes.overflowed() ? INT64_MAX : bytes.value());
}

// Returns why these elements are not part of a buffer of `have` elements; empty if they are. Checks `first` before
// `count`, because `slice(first)` computes a count that its caller did not pass.
std::string why_outside(extent first, extent count, extent have) {
  const std::string has = "the buffer has " + text(have) + (have == 1 ? " element" : " elements");
  if (first < 0) return "first is " + text(first) + (first.overflowed() ? "; " + has : "; expected at least 0");
  if (first > have) return "first is " + text(first) + "; " + has;
  if (count.overflowed()) return "count is " + text(count) + "; " + has;
  if (count < 0) return "count is " + text(count) + "; expected at least 0";
  const extent end = first + count;
  if (end.overflowed()) return "first is " + text(first) + " and count is " + text(count) + "; " + has;
  if (end > have)
    return "first is " + text(first) + " and count is " + text(count) + ": ends at " + text(end) + ", " + has;
  return {};
}

}  // namespace

extent size_of(const memory_range& range, std::size_t element_bytes) noexcept { return range.bytes / element_bytes; }

memory_range slice_of(const memory_range& range, extent first, extent count, std::size_t element_bytes) {
  if (!range.owner) return {};
  const std::uint64_t bytes = bytes_of(count, element_bytes);
  if (range.owner->address == 0) return {range.owner, 0, bytes};  // a refused range, which has a cause already
  const extent have = size_of(range, element_bytes), end = first + count;
  if (first < 0 || count < 0 || end > have || end.overflowed()) [[unlikely]]
    return refused_view(range, "slice: " + why_outside(first, count, have), bytes);
  return {range.owner, range.address + static_cast<std::uint64_t>(first.value()) * element_bytes, bytes};
}

memory_range reinterpreted(const memory_range& range, std::size_t element_bytes, std::size_t alignment) {
  if (!has_memory(range)) return range;
  const std::uint64_t offset = range.address - range.owner->address;
  if (range.bytes % element_bytes != 0 || offset % element_bytes != 0 || range.address % alignment != 0) {
    return refused_view(
        range, cat("as: ", range.bytes, " bytes at offset ", offset, "; expected size and offset in whole elements of ",
                   element_bytes, " bytes, at a multiple of ", alignment));
  }
  return range;
}

std::optional<error> why_stale(const memory_range& range) {
  if (!range.owner) return error(reaction::caller_bug, "memory", "an empty buffer (never allocated, or moved from)");
  range.owner->owner->renew(*range.owner.get());
  return range.owner->owner->stale_cause(*range.owner.get(), range.address, range.address + range.bytes);
}

}  // namespace troupe::detail
