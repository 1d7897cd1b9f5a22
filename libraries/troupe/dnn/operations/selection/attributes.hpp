// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::dnn {

/// The attributes of a selection. Outputs: the elements, in order, and their indexes along the axis.
struct selection_attributes {
  std::int64_t axis;      ///< the axis along which elements are compared
  std::int64_t smallest;  ///< 1 if the smallest elements are selected, otherwise the largest
};

constexpr bool is_sound(op, const selection_attributes& a, const node_counts&) noexcept {
  return a.axis >= 0 && a.axis < static_cast<std::int64_t>(tensor_shape::max_rank) && is_flag(a.smallest);
}

}  // namespace troupe::dnn
