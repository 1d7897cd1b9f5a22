// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Returns a tensor in which each element is its index along an axis, 0 to 16777215, as f32.
value iota(std::span<const std::int64_t> extents, std::size_t axis);
inline value iota(std::initializer_list<std::int64_t> extents, std::size_t axis) {
  return iota(std::span<const std::int64_t>(extents.begin(), extents.size()), axis);
}
/// Returns 1 where the index along a new last axis of `classes` elements is the label, otherwise 0. A label that is
/// none of 0 to `classes` - 1 has zeros.
value one_hot(const value& labels, std::int64_t classes);
/// Return the index along an axis of the largest or the smallest element, of the first if several are; of the first NaN
/// if there is one. The axis has the extent 1 in the result, which is f32: write it to i32.
value arg_max(const value& x, std::size_t axis);
value arg_min(const value& x, std::size_t axis);

}  // namespace troupe::dnn
