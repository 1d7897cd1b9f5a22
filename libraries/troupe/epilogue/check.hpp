// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/expression.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::epilogue {

/// What an epilogue is applied to: the extents of the result, the number of products, and the type they are summed in.
struct result_of_product {
  extent rows, columns, batch;
  dtype sums;         ///< f32, f64, i32, c64 or c128
  extent groups = 1;  ///< of rows: what is not as tall as the result may have a part for each
};

/// Checks the epilogue `e`, a field of a request: its operations, and the extents and types of its operands.
void check(checker& c, const expression& e, const result_of_product& result);

/// Allows the result to be what the epilogue loads: each element is read before it is written. It is `count` matrices
/// that lie `stride` elements apart.
template <class D>
void allow_in_place(checker& c, const expression& e, const D& result, const matrix_shape& one, std::int64_t count,
                    std::int64_t stride) {
  std::size_t allowed = 0;
  for (const auto& m : e.memory()) {
    const bool same = m.mode == access_mode::read && m.range.address == result.range().address && m.shape == one &&
                      m.type == result.type() && m.batch == count && (count == 1 || m.batch_stride == stride);
    if (same && allowed++ < checker::max_allowed) c.may_overlap(&m, &result);
  }
}

}  // namespace troupe::epilogue
