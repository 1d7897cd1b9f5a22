// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/windows/geometry.hpp>

namespace troupe::dnn {

/// The attributes of a pooling and its gradient.
struct pooling_attributes {
  std::int64_t extents[windows::most_spatial];  ///< the window's
  windows::slides slides;
  pooling_kind kind;
};

// Pooling with indexes, and its gradient, have pooling_attributes, too. Outputs: y, and for each element of y the index
// of the maximum in its image, in row-major order. Inputs of the gradient: dy and these indexes.

constexpr bool is_sound(op what, const pooling_attributes& a, const node_counts& n) noexcept {
  const bool is_maximum = a.kind == pooling_kind::maximum;
  if (what == op::pooling_with_indexes || what == op::pooling_index_gradient) return is_maximum;
  if (!is_known(a.kind)) return false;
  return what == op::pooling || n == node_counts{is_maximum ? 2u : 1u, 1};
}

}  // namespace troupe::dnn
