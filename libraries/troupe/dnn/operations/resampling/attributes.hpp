// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>

namespace troupe::dnn {

/// The attributes of a resampling and its gradient.
struct resampling_attributes {
  std::int64_t taps;     ///< number of neighbors along an axis from which an element is interpolated: 1, 2 or 4
  std::int64_t aligned;  ///< 1 if the centers of the corner elements coincide, 0 if the outer corners do
};

constexpr bool is_sound(op, const resampling_attributes& a, const node_counts&) noexcept {
  return (a.taps == 1 || a.taps == 2 || a.taps == 4) && is_flag(a.aligned);
}

}  // namespace troupe::dnn
