// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/kinds.hpp>
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
  resampling_coordinates coordinates;
  nearest_rounding rounding;

  /// Returns the index of the first neighbor of element o. Sets `rest` to the distance of the element, from 0 to 1,
  /// from the second of four neighbors, or from the first of two. An index outside the image stands for the border
  /// element.
  template <class N>
  TROUPE_HOST_DEVICE std::int64_t first(std::int64_t o, N& rest) const noexcept {
    const positions p = positions_along();
    const std::int64_t above = p.factor * o + p.first;
    if (taps == 1) return rounded(above, p.divisor);
    const std::int64_t whole = floor_quotient(above, p.divisor);
    rest = static_cast<N>(above - whole * p.divisor) / static_cast<N>(p.divisor);
    return taps == 2 ? whole : whole - 1;
  }
  TROUPE_HOST_DEVICE std::int64_t on_image(std::int64_t i) const noexcept { return i < 0 ? 0 : i < in ? i : in - 1; }

  /// Return the bounds of the range [first, last) of elements of the result that have element i of the image as a
  /// neighbor.
  TROUPE_HOST_DEVICE std::int64_t first_user(std::int64_t i) const noexcept {
    return i == 0 ? 0 : first_from(i - taps + 1);
  }
  TROUPE_HOST_DEVICE std::int64_t last_user(std::int64_t i) const noexcept {
    return i == in - 1 ? out : first_from(i + 1);
  }

 private:
  /// The position of element o in the image is (factor * o + first) / divisor.
  struct positions {
    std::int64_t factor, first, divisor;
  };
  TROUPE_HOST_DEVICE positions positions_along() const noexcept {
    const bool is_single = out == 1 && (coordinates == resampling_coordinates::align_corners ||
                                        coordinates == resampling_coordinates::pytorch_half_pixel);
    if (is_single) return {0, 0, 1};
    if (coordinates == resampling_coordinates::align_corners) return {in - 1, 0, out - 1};
    if (coordinates == resampling_coordinates::asymmetric) return {in, 0, out};
    return {2 * in, in - out, 2 * out};
  }
  TROUPE_HOST_DEVICE std::int64_t rounded(std::int64_t above, std::int64_t below) const noexcept {
    if (rounding == nearest_rounding::floor) return floor_quotient(above, below);
    if (rounding == nearest_rounding::ceil) return -floor_quotient(-above, below);
    if (rounding == nearest_rounding::round_prefer_floor) return -floor_quotient(below - 2 * above, 2 * below);
    return floor_quotient(2 * above + below, 2 * below);
  }
  /// Returns the smallest element of the result whose first neighbor is i or later.
  TROUPE_HOST_DEVICE std::int64_t first_from(std::int64_t i) const noexcept {
    // Its position is at least, or more than, half of this number.
    std::int64_t twice = taps == 4 ? 2 * i + 2 : 2 * i;
    if (taps == 1 && rounding == nearest_rounding::ceil) twice -= 2;
    const bool is_to_nearest =
        rounding == nearest_rounding::round_prefer_ceil || rounding == nearest_rounding::round_prefer_floor;
    if (taps == 1 && is_to_nearest) twice -= 1;
    const bool is_more =
        taps == 1 && (rounding == nearest_rounding::ceil || rounding == nearest_rounding::round_prefer_floor);
    const positions p = positions_along();
    const std::int64_t rest = twice * p.divisor - 2 * p.first;  // 2 * factor * o is at least, or more than, this
    if (p.factor == 0) return (is_more ? 0 > rest : 0 >= rest) ? 0 : out;
    const std::int64_t o = is_more ? floor_quotient(rest, 2 * p.factor) + 1 : -floor_quotient(-rest, 2 * p.factor);
    return o < 0 ? 0 : o < out ? o : out;
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
