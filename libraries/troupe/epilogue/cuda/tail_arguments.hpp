// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>
#include <troupe/epilogue/op.hpp>

/// Arguments of the kernels of tail.cuh. Compiled by the host compiler and nvcc.
namespace troupe::epilogue::kernel_arguments {

inline constexpr unsigned lanes = 32, warps = 8;  ///< the threads of a block
inline constexpr unsigned ordinary_slots = 8;     ///< slots of the kernels for ordinary epilogues

/// A matrix, or a batch of matrices. Strides are in elements.
struct strided_matrix {
  std::uint64_t address;
  std::int64_t row_stride, column_stride, batch_stride;
  std::uint64_t type;  ///< a dtype
};

/// A node of the epilogue. `to` and `arguments` are slots.
struct step {
  op what;
  dtype type;            ///< for `convert`
  reduction combine;     ///< for `reduce`
  reduction_scope over;  ///< for `reduce`; in the orientation of the stored result
  std::uint8_t operand;
  std::uint8_t to, arguments[3];
  std::uint8_t unused[3];
};
static_assert(sizeof(step) == 12);

/// Computes an epilogue for each element of a product, which is stored column by column. The memory of a reduction
/// receives partial results as doubles, which `combining` combines:
///   reductions of each column, and of all: one for each tile of rows and column, contiguous for each column
///   reductions of each row: one for each group of columns and row, contiguous for each group
struct tail {
  strided_matrix product, result;
  std::int64_t right;  ///< elements from the left half of the product to the right half
  std::int64_t rows, columns, batch;
  std::int64_t columns_of_block;  ///< a multiple of `warps`; a group is every `warps`th column of a block
  std::uint32_t steps, unused;
  step all[most_nodes];
  double numbers[most_numbers + 1];  ///< the last is 0, the accumulator if k is 0
  strided_matrix memory[most_memory];
};

/// Combines `parts` partial results, `part_stride` apart, for each of `count` results, and stores them.
struct combining {
  const double* partial;
  std::int64_t parts, part_stride, count, result_stride, batch, batch_stride;
  strided_matrix to;
  reduction combine;
};

}  // namespace troupe::epilogue::kernel_arguments
