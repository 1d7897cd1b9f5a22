// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/expression.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::epilogue {

/// The product whose sums an epilogue is applied to.
struct result_of_product {
  extent rows, columns;  ///< extents of the epilogue's result
  extent batch;          ///< number of products
  dtype sums;            ///< f32, f64, i32, c64 or c128
  extent groups = 1;     ///< number of groups of rows: each has its own rows, numbers and column reductions
};

/// Checks the epilogue `e` of a request: its operations, and the extents and types of its operands.
void check(checker& c, const expression& e, const result_of_product& result);

/// Allows the epilogue to load the matrix that receives the result, because each element is read before it is written.
/// `result` has `count` matrices of shape `one`, `stride` elements apart.
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
