// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// The values that an epilogue computes, column by column, before they are rounded to the types of the memory.
struct evaluated {
  std::vector<double> result;
  std::vector<std::vector<double>> written;  ///< for each operand in memory; empty if the epilogue reads the operand
};

/// Computes an epilogue in double precision, element by element: the definition that engines are tested against. Its
/// operands must be in memory of this process. `product(i, j)` returns element (i, j) of the product, which has
/// 2 * `columns` columns if the epilogue is paired. `which` is the index of the product in the batch.
evaluated evaluate(const tree& t, std::int64_t rows, std::int64_t columns,
                   const std::function<double(std::int64_t, std::int64_t)>& product, std::int64_t which = 0);

}  // namespace troupe::epilogue
