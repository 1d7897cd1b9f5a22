// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/cuda/epilogue_arguments.hpp>

/// Arguments of the kernels in kernels.cu. Compiled by the host compiler and nvcc.
namespace troupe::matmul::kernel_arguments {

/// The arguments of `arrange`, which copies the lines of matrices so that each is contiguous. Element e of line l is
/// read at e * element_stride + l * line_stride and written to e + l * padded; elements from `length` to `padded` are
/// 0.
struct arrange_arguments {
  const void* from;
  void* to;
  std::int64_t lines, length, padded, element_stride, line_stride;
  std::int64_t batch;        ///< number of matrices
  std::int64_t from_stride;  ///< elements from one matrix to the next in `from`
};

/// The arguments of `scale`, which copies lines as `arrange` does and multiplies each number by the scale of its block.
struct scale_arguments {
  arrange_arguments what;  ///< `length` and `padded` count numbers, two in each element of f4e2m1x2
  const void* scales;
  std::int64_t k_stride, line_stride, batch_stride;  ///< strides of the scales: one scale for each block
  std::int64_t block_k, block_lines;                 ///< extents of a block
  std::uint64_t type, scale_type;                    ///< dtypes
};

/// A factor of small products. Its lines are the rows of A or the columns of B.
struct factor {
  std::uint64_t address, type;
  std::int64_t line_stride, k_stride;  ///< in elements: from one line to the next; along k
};
/// The arguments of `multiply_small`: products that differ in their addresses only, with their epilogues. Block (i, j)
/// computes tile j of product i.
struct small_products {
  epilogue::kernel_arguments::epilogue_pass epilogue;  ///< its `product` and `batch` are not used
  factor a, b;
  std::int64_t k;
  const std::uint64_t* addresses;  ///< of A, B, D and the epilogue's operands, for each product; null: one product
  std::uint64_t operands;          ///< number of the epilogue's operands in memory
};

}  // namespace troupe::matmul::kernel_arguments
