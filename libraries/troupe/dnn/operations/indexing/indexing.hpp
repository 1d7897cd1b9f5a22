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
/// Returns a tensor whose elements are all `number`, f32 or f64; 0 is never negative. They are computed where they are
/// used, without memory.
value full(std::span<const std::int64_t> extents, double number, dtype type = dtype::f32);
inline value full(std::initializer_list<std::int64_t> extents, double number, dtype type = dtype::f32) {
  return full(std::span<const std::int64_t>(extents.begin(), extents.size()), number, type);
}
/// Returns 1 where the index along a new last axis of `classes` elements is the label, otherwise 0. A label that is
/// none of 0 to `classes` - 1 has zeros.
value one_hot(const value& labels, std::int64_t classes);
/// Returns the parts of x at indexes along an axis: rows of a table of embeddings, for example. The axes of the
/// indexes, which are i32 or i64 in memory, take the place of the axis. An index that x does not have, also a negative
/// one, yields NaN, which is 0 as an integer.
value gather(const value& x, const value& indexes, std::size_t axis);
/// Returns x + the sums of the parts with each index, in a fixed order. `parts` has the extents of
/// gather(x, indexes, axis). A part whose index x does not have is left out.
value scatter_add(const value& x, const value& indexes, const value& parts, std::size_t axis);
/// Return the index along an axis of the largest or the smallest element, of the first if several are; of the first NaN
/// if there is one. The axis has the extent 1 in the result, which is a float: write it to i32
/// or i64.
value arg_max(const value& x, std::size_t axis);
value arg_min(const value& x, std::size_t axis);

}  // namespace troupe::dnn
