// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Elements along an axis, and their indexes, which are i32.
struct selected {
  value values, indexes;
};
/// Options of top_k.
struct top_k_options {
  bool smallest = false;  ///< true for the smallest elements, in ascending order
};

/// Returns the `count` largest elements along an axis, in descending order. Of equal elements, the one with the lowest
/// index is first. NaN is larger than every number. The gradient compares each element of x with each selected one of
/// its line: for thousands of selected elements, it is slow, and on the host it needs memory for all pairs.
selected top_k(const value& x, std::size_t axis, std::int64_t count, const top_k_options& o = {});

}  // namespace troupe::dnn
