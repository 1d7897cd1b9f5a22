// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/host_device.hpp>

namespace troupe::dnn {

/// Rounds a quotient down, for b > 0.
TROUPE_HOST_DEVICE std::int64_t floor_quotient(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// A spatial axis of a resampling from `in` to `out` elements. Positions are quotients of integers, so that all engines
/// choose the same elements.
struct sampling_axis {
  std::int64_t in, out;
  std::int64_t taps;  ///< see resampling_attributes
  std::int64_t aligned;

  /// Returns the index of the first neighbor of element o. Sets `rest` to the distance of the element, from 0 to 1,
  /// from the second of four neighbors, or from the first of two. An index outside the image stands for the border
  /// element.
  template <class N>
  TROUPE_HOST_DEVICE std::int64_t first(std::int64_t o, N& rest) const noexcept {
    const std::int64_t above = aligned == 0 ? (2 * o + 1) * in - out : out == 1 ? 0 : o * (in - 1);
    const std::int64_t below = aligned == 0 ? 2 * out : out == 1 ? 1 : out - 1;
    if (taps == 1) return floor_quotient(2 * above + below, 2 * below);
    const std::int64_t whole = floor_quotient(above, below);
    rest = static_cast<N>(above - whole * below) / static_cast<N>(below);
    return taps == 2 ? whole : whole - 1;
  }
  TROUPE_HOST_DEVICE std::int64_t on_image(std::int64_t i) const noexcept { return i < 0 ? 0 : i < in ? i : in - 1; }

  /// Returns the smallest element of the result whose first neighbor is i or later.
  TROUPE_HOST_DEVICE std::int64_t first_from(std::int64_t i) const noexcept {
    if (taps == 4) ++i;
    std::int64_t o = 0;
    if (aligned == 0)
      o = -floor_quotient(in - (taps == 1 ? 2 * i : 2 * i + 1) * out, 2 * in);
    else if (in == 1 || out == 1)
      o = i <= 0 ? 0 : out;
    else
      o = -floor_quotient(-(taps == 1 ? 2 * i - 1 : 2 * i) * (out - 1), 2 * (in - 1));
    return o < 0 ? 0 : o < out ? o : out;
  }
  /// Return the bounds of the range [first, last) of elements of the result that have element i of the image as a
  /// neighbor.
  TROUPE_HOST_DEVICE std::int64_t first_user(std::int64_t i) const noexcept {
    return i == 0 ? 0 : first_from(i - taps + 1);
  }
  TROUPE_HOST_DEVICE std::int64_t last_user(std::int64_t i) const noexcept {
    return i == in - 1 ? out : first_from(i + 1);
  }
};

/// Returns the weight of neighbor `k` of `taps` neighbors.
template <class N>
TROUPE_HOST_DEVICE N sampling_weight(std::int64_t taps, std::int64_t k, N rest) noexcept {
  if (taps == 1) return N(1);
  if (taps == 2) return k == 0 ? 1 - rest : rest;
  // Keys's cubic polynomial.
  constexpr N a = N(-0.75);
  const N distance = k == 0 ? 1 + rest : k == 1 ? rest : k == 2 ? 1 - rest : 2 - rest;
  if (k == 1 || k == 2) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  return a * (((distance - 5) * distance + 8) * distance - 4);
}

}  // namespace troupe::dnn
