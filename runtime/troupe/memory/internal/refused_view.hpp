// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/request/block.hpp>

namespace troupe::detail {

/// Returns false if the range is empty, or if its allocation failed.
inline bool has_memory(const memory_range& r) noexcept { return r.owner && r.owner->address != 0; }

/// Returns a range to use instead of a part of `range` that does not exist. Requests refuse it with `text`.
/// Precondition: `range` has an owner.
inline memory_range refused_view(const memory_range& range, std::string text, std::uint64_t bytes) {
  return {range.owner->owner->failed_buffer(bytes, error(reaction::caller_bug, "memory", std::move(text))), 0, bytes};
}
inline memory_range refused_view(const memory_range& range, std::string text) {
  return refused_view(range, std::move(text), range.bytes);
}

}  // namespace troupe::detail
