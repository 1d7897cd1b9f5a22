// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/kinds.hpp>

namespace troupe::dnn {

/// The attributes of a reduction.
struct reduction_attributes {
  std::int64_t over;  ///< bit i is set if axis i is reduced
  reduction_kind kind;
};

/// The attributes of softmax and its gradient.
struct softmax_attributes {
  std::int64_t over;         ///< the axis along which the exponentials are summed
  std::int64_t logarithmic;  ///< 1 if the result is the logarithm of softmax
};

constexpr bool is_sound(op, const reduction_attributes& a, const node_counts&) noexcept { return is_known(a.kind); }
constexpr bool is_sound(op, const softmax_attributes& a, const node_counts&) noexcept { return is_flag(a.logarithmic); }

}  // namespace troupe::dnn
