// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/kinds.hpp>

namespace troupe::dnn {

/// The attributes of a resampling and its gradient.
struct resampling_attributes {
  std::int64_t taps;  ///< number of neighbors along an axis from which an element is interpolated: 1, 2 or 4
  resampling_coordinates coordinates;
  nearest_rounding rounding;  ///< of positions, if `taps` is 1
};

constexpr bool is_sound(op, const resampling_attributes& a, const node_counts&) noexcept {
  return (a.taps == 1 || a.taps == 2 || a.taps == 4) && is_known(a.coordinates) && is_known(a.rounding);
}

}  // namespace troupe::dnn
