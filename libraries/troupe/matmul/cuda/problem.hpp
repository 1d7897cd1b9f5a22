// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>

namespace troupe::matmul {

/// A matrix, or a batch of matrices, in cuBLASLt's layout: stored column by column, `ld` elements from one column to
/// the next.
struct stored_matrix {
  std::uint64_t address;
  dtype type;
  std::int64_t rows, columns, ld, stride;  ///< `stride` is 0 if all products of a batch share the matrix
  bool transposed;                         ///< true if the factor is its transpose
};

/// A product with D stored column by column, as cuBLASLt computes it. If the request's D is stored row by row, this is
/// the transpose of the request: D^T = B^T * A^T.
struct problem {
  stored_matrix a, b, d;
  block_scales a_scales, b_scales;  ///< set for both factors, or for neither
  std::int64_t m, n, k, batch;      ///< extents and number of the products
  bool transposed;                  ///< true if this is the transpose of the request
  bool paired;                      ///< true if the epilogue pairs columns: the product then has twice those of D

  bool has_scales() const noexcept { return a_scales.address != 0; }

  /// Returns the stride of the rows, and of the columns, that an operand of the epilogue has in this orientation.
  std::int64_t row_stride_of(const matrix_shape& s) const noexcept {
    return transposed ? s.column_stride : s.row_stride;
  }
  std::int64_t column_stride_of(const matrix_shape& s) const noexcept {
    return transposed ? s.row_stride : s.column_stride;
  }
};

/// Returns the product that computes a request.
problem problem_of(const multiplication& r) noexcept;

/// Returns the largest power of two, up to 256, that divides the address.
constexpr std::uint32_t alignment_of(std::uint64_t address) noexcept {
  const std::uint64_t lowest = address & (~address + 1);
  return lowest == 0 || lowest > 256 ? 256 : static_cast<std::uint32_t>(lowest);
}

}  // namespace troupe::matmul
