// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>

namespace troupe::matmul {

/// A matrix in cuBLASLt's layout, column by column and `ld` elements apart, or a batch of them.
struct stored_matrix {
  std::uint64_t address;
  dtype type;
  std::int64_t rows, columns, ld, stride;  ///< `stride` is 0 if all products of a batch share it
  bool transposed;                         ///< true if the product uses its transpose
};

/// A product with D stored column by column, as cuBLASLt computes it. If the request's D is stored row by row, this is
/// the transpose of the request: D^T = B^T * A^T.
struct problem {
  stored_matrix a, b, d;
  block_scales a_scales, b_scales;  ///< set for both factors, or for neither
  std::int64_t m, n, k, batch;      ///< of the product, which is larger than D if the epilogue is of pairs
  bool transposed, paired;

  bool has_scales() const noexcept { return a_scales.address != 0; }

  /// Returns the row stride, and the column stride, of an operand of the epilogue in this orientation.
  std::int64_t along(const matrix_shape& s) const noexcept { return transposed ? s.column_stride : s.row_stride; }
  std::int64_t across(const matrix_shape& s) const noexcept { return transposed ? s.row_stride : s.column_stride; }
};

/// Returns the product of a request.
problem problem_of(const multiplication& r) noexcept;

/// Returns the largest power of two, up to 256, that divides the address.
constexpr std::uint32_t alignment_of(std::uint64_t address) noexcept {
  const std::uint64_t lowest = address & (~address + 1);
  return lowest == 0 || lowest > 256 ? 256 : static_cast<std::uint32_t>(lowest);
}

}  // namespace troupe::matmul
