// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/cuda/tail_arguments.hpp>

/// Arguments of the kernels in kernels.cu. Compiled by the host compiler and nvcc.
namespace troupe::matmul::kernel_arguments {

/// Copies the lines of a batch of matrices, so that each is contiguous: element e of line l is read at
/// e * along + l * across, and written to e + l * padded. Elements from `length` to `padded` are 0.
struct arranging {
  const void* from;
  void* to;
  std::int64_t lines, length, padded, along, across, batch, from_stride;
};

/// The same, with each element multiplied by the scale of its block.
struct scaling {
  arranging what;  ///< its lengths count numbers: two in an element of f4e2m1x2
  const void* scales;
  std::int64_t along, across, stride;  ///< strides of the scales
  std::int64_t k_of_block, lines_of_block;
  std::uint64_t type, scale_type;  ///< dtypes
};

/// A factor of small products, with its strides from line to line, and along k.
struct factor {
  std::uint64_t address, type;
  std::int64_t across, along;
};
/// Small products that differ in their addresses only, with their epilogues: blocks (product, tile).
struct small_products {
  epilogue::kernel_arguments::tail epilogue;  ///< its product and batches are not used
  factor a, b;
  std::int64_t k;
  const std::uint64_t* addresses;  ///< A, B, D, and the epilogue's operands of each product; null: one product
  std::uint64_t operands;          ///< number of operands in memory of the epilogue
};

}  // namespace troupe::matmul::kernel_arguments
