// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/cuda/tail_arguments.hpp>

/// Arguments of the kernels in kernels.cu. Compiled by the host compiler and nvcc.
namespace troupe::matmul::kernel_arguments {

/// Copies lines, or a batch of such matrices, so that the elements of each are neighbours: element e of line l is at
/// e * along + l * across, and goes to e + l * padded. Elements from `length` to `padded` are 0.
struct arranging {
  const void* from;
  void* to;
  std::int64_t lines, length, padded, along, across, batch, from_stride;
};

/// The same, with each element multiplied by the scale of its block.
struct scaling {
  arranging what;  ///< its lengths count terms: two in an element of f4e2m1x2
  const void* scales;
  std::int64_t along, across, stride;  ///< of the scales
  std::int64_t terms_of_block, lines_of_block;
  std::uint64_t type, scale_type;  ///< dtypes
};

/// A factor of small products: the distances of its elements from line to line, and along k.
struct factor {
  std::uint64_t address, type;
  std::int64_t across, along;
};
/// Small products with their epilogues, of one kind: blocks (product, tile).
struct small_products {
  epilogue::kernel_arguments::tail epilogue;  ///< its product and batches are not used
  factor a, b;
  std::int64_t k;
  const std::uint64_t*
      addresses;           ///< of each product: A, B, D, and the epilogue's operands; null: there is one product
  std::uint64_t operands;  ///< how many the epilogue has
};

}  // namespace troupe::matmul::kernel_arguments
