// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Options of cumulative_sum.
struct cumulative_options {
  bool exclusive = false;  ///< true if the sum at an index does not include the element at this index
  bool reversed = false;   ///< true if sums begin at the last element along the axis
};

/// Returns for each element the sum of the elements up to it along an axis. Partial sums are f64, and are rounded once.
value cumulative_sum(const value& x, std::size_t axis, const cumulative_options& o = {});

}  // namespace troupe::dnn
