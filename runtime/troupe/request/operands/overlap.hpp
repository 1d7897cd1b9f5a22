// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/request/operands/operand_uses.hpp>
#include <utility>

namespace troupe {

/// Two operands that share an element although the request writes one of them.
struct operand_overlap {
  const operand_use* written;
  const operand_use* other;
};

/// Returns true if no written operand's range meets another range. Kept short, because every request with few operands
/// runs it.
inline bool all_apart(std::span<const operand_use> all) noexcept {
  for (const operand_use& w : all)
    if (w.touched.mode != access_mode::read)
      for (const operand_use& other : all)
        if (w.touched.begin < other.touched.end && other.touched.begin < w.touched.end && &w != &other) [[unlikely]]
          return false;
  return true;
}

/// Finds two operands that overlap although one is written, except for the `allowed` pairs of fields.
std::optional<operand_overlap> find_overlap(std::span<const operand_use> all,
                                            std::span<const std::pair<const void*, const void*>> allowed);

}  // namespace troupe
