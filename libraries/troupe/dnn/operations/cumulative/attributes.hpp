// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::dnn {

/// The attributes of a cumulative sum.
struct cumulative_attributes {
  std::int64_t axis;       ///< the axis along which elements are added
  std::int64_t exclusive;  ///< 1 if a sum does not include the element at its own index
  std::int64_t reversed;   ///< 1 if sums begin at the last element
};

constexpr bool is_sound(op, const cumulative_attributes& a, const node_counts&) noexcept {
  return a.axis >= 0 && a.axis < static_cast<std::int64_t>(tensor_shape::max_rank) && is_flag(a.exclusive) &&
         is_flag(a.reversed);
}

}  // namespace troupe::dnn
