// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// The values that an epilogue computes: the result, and those that it writes to each operand in memory (none for those
/// that it reads). Column by column, before they are rounded to the types of the memory.
struct evaluated {
  std::vector<double> result;
  std::vector<std::vector<double>> written;
};

/// Computes an epilogue in double precision, element by element: the definition that engines are tested against. Its
/// operands must be in memory of this process. `product(i, j)` is the product, which has twice as many columns if the
/// epilogue is of pairs; `which` is its index in the batch.
evaluated evaluate(const tree& t, std::int64_t rows, std::int64_t columns,
                   const std::function<double(std::int64_t, std::int64_t)>& product, std::int64_t which = 0);

}  // namespace troupe::epilogue
