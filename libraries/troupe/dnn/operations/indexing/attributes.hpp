// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::dnn {

/// The attributes of iota, which has no input: the axis whose indexes are the elements.
struct iota_attributes {
  std::int64_t along;
};

constexpr bool is_sound(op, const iota_attributes& a, const node_counts&) noexcept {
  return a.along >= 0 && a.along < static_cast<std::int64_t>(tensor_shape::max_rank);
}

/// The most elements along the axis: float has all smaller integers.
inline constexpr std::int64_t most_iota = std::int64_t{1} << 24;

}  // namespace troupe::dnn
