// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/lines_along.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::dnn {

/// The attributes of iota, which has no input: the axis whose indexes are the elements.
struct iota_attributes {
  std::int64_t along;
};

constexpr bool is_sound(op, const iota_attributes& a, const node_counts&) noexcept {
  return a.along >= 0 && a.along < static_cast<std::int64_t>(tensor_shape::max_rank);
}

/// The attributes of gather and scatter_add: the axis of the tensor whose indexes are given. Inputs: the tensor, or the
/// parts that scatter_add adds; then the indexes, i32 or i64 in memory. The parts have the axes of the indexes instead
/// of the axis.
struct gather_attributes {
  std::int64_t axis;
};

constexpr bool is_sound(op, const gather_attributes& a, const node_counts&) noexcept {
  return a.axis >= 0 && a.axis < static_cast<std::int64_t>(tensor_shape::max_rank);
}
constexpr std::size_t count_value_inputs(op, const gather_attributes&, const node_counts&) noexcept { return 1; }

/// The lines along an axis whose indexes are given, and the parts at `count` indexes: `outer` x `count` x `inner`.
struct parts_along : lines_along {
  std::int64_t count = 1;
  parts_along(const gather_attributes& a, const tensor_shape& whole, const tensor_shape& indexes) noexcept
      : lines_along(std::span(whole.extents.data(), whole.rank), static_cast<std::size_t>(a.axis)) {
    for (std::size_t i = 0; i < indexes.rank; ++i) count *= indexes.extents[i];
  }
};

/// The most elements along the axis: float has all smaller integers.
inline constexpr std::int64_t most_iota = std::int64_t{1} << 24;

}  // namespace troupe::dnn
