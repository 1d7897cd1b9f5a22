// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/extent.hpp>

namespace troupe::kernel {

/// Extents of a grid in blocks, or of a block in threads. A single number sets x.
///   .grid = 100          .block = {16, 16}
struct dimensions {
  extent x, y = 1, z = 1;

  template <std::integral I>
  constexpr dimensions(I width) noexcept : x(width) {}
  constexpr dimensions(extent width) noexcept : x(width) {}
  constexpr dimensions(extent width, extent height, extent depth = 1) noexcept : x(width), y(height), z(depth) {}

  friend constexpr bool operator==(const dimensions&, const dimensions&) noexcept = default;
};

/// Returns how many blocks of `threads` threads cover `count` elements.
constexpr extent blocks_for(extent count, extent threads) noexcept {
  if (count < 1 || threads < 1 || count.overflowed()) return count;  // returned as it is, so that the launch is refused
  return extent((count.value() - 1) / threads.value() + 1);
}

}  // namespace troupe::kernel
