// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>

namespace troupe::matmul {

/// A matrix as cuBLASLt sees one: stored column by column, `ld` elements apart; or a batch of them.
struct stored_matrix {
  std::uint64_t address;
  dtype type;
  std::int64_t rows, columns, ld, stride;  ///< `stride` is 0 if all products of a batch share it
  bool transposed;                         ///< whether the product takes its transpose
};

/// A product as cuBLASLt computes it: D is stored column by column. Where the request's D is stored row by row, this is
/// the transpose of the request: D^T = B^T * A^T.
struct problem {
  stored_matrix a, b, d;
  block_scales a_scales, b_scales;  ///< of both, or of neither
  std::int64_t m, n, k, batch;      ///< of the product: of an epilogue of pairs, it is larger than D
  bool transposed, paired;

  bool has_scales() const noexcept { return a_scales.address != 0; }

  /// How the epilogue's operand lies in memory here: the distances from row to row, and from column to column.
  std::int64_t along(const matrix_shape& s) const noexcept { return transposed ? s.column_stride : s.row_stride; }
  std::int64_t across(const matrix_shape& s) const noexcept { return transposed ? s.row_stride : s.column_stride; }
};

problem problem_of(const multiplication& r) noexcept;

/// Returns the largest power of two, up to 256, that divides the address.
constexpr std::uint32_t alignment_of(std::uint64_t address) noexcept {
  const std::uint64_t lowest = address & (~address + 1);
  return lowest == 0 || lowest > 256 ? 256 : static_cast<std::uint32_t>(lowest);
}

}  // namespace troupe::matmul
