// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>
#include <troupe/epilogue/op.hpp>

/// The arguments of the kernels of epilogue_pass.cuh. Compiled by the host compiler and nvcc.
namespace troupe::epilogue::kernel_arguments {

inline constexpr unsigned lanes = 32, warps = 8;  ///< a block has `warps` warps of `lanes` threads
inline constexpr unsigned ordinary_slots = 8;     ///< slots of the smaller kernels

/// A matrix, or a batch of matrices. Strides are in elements.
struct strided_matrix {
  std::uint64_t address;
  std::int64_t row_stride, column_stride, batch_stride;
  std::uint64_t type;  ///< the dtype of the elements
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

/// The arguments of a kernel that computes an epilogue for each element of a product stored column by column. The
/// memory of a reduction receives partial results as doubles, which `combine_each` or `combine_all` combines later:
///   over each column, or over all elements: one for each tile of rows of each column, contiguous for a column
///   over each row: one for each row and each group of columns, contiguous for a group
struct epilogue_pass {
  strided_matrix product, result;
  std::int64_t right;  ///< elements from the left half of the product to the right half
  std::int64_t rows, columns, batch;
  std::int64_t columns_of_block;  ///< a multiple of `warps`; each warp computes a group: every `warps`-th column
  std::uint32_t steps, unused;
  step all[most_nodes];
  double numbers[most_numbers + 1];  ///< the last is 0, the value of the product if k is 0
  strided_matrix memory[most_memory];
};

/// The arguments of a kernel that combines `parts` partial results, `part_stride` apart, into each of `count` results.
struct combine_arguments {
  const double* partial;
  std::int64_t parts, part_stride, count, result_stride, batch, batch_stride;
  strided_matrix to;
  reduction combine;
};

}  // namespace troupe::epilogue::kernel_arguments
