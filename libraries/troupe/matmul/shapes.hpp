// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/dtype.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <troupe/request/operands/view_shape.hpp>

/// Extents and types of products, for the checks of requests and for engines.
namespace troupe::matmul {

/// A batch of matrices of one shape, `one`.
struct batch_of_matrices {
  matrix_shape one;
  std::int64_t count = 1;   ///< number of matrices
  std::int64_t stride = 0;  ///< elements from one matrix to the next
};

/// Returns the shape as a batch. Precondition: `s.rank` is 2 or 3.
inline batch_of_matrices matrices_of(const tensor_shape& s) noexcept {
  const std::size_t i = s.rank - 2;
  batch_of_matrices out{{s.extents[i], s.extents[i + 1], s.strides[i], s.strides[i + 1]}};
  if (s.rank == 3) out.count = s.extents[0], out.stride = s.strides[0];
  return out;
}

/// Returns true if the rows or the columns are contiguous.
inline bool has_lines(const matrix_shape& s) noexcept {
  return s.row_stride == 1 || s.column_stride == 1 || s.rows == 1 || s.columns == 1;
}

/// Returns how many numbers along k an element of this type holds: 2 for f4e2m1x2, else 1.
constexpr std::int64_t k_per_element(dtype t) noexcept { return t == dtype::f4e2m1x2 ? 2 : 1; }

constexpr bool is_float8(dtype t) noexcept { return t == dtype::f8e4m3 || t == dtype::f8e5m2; }

/// The extents of a block of numbers that share a scale: `lines` rows of A or columns of B, and `k` numbers along k.
struct scale_block {
  std::int64_t lines, k;
};
/// Returns the block of elements of type `elements` that share a scale of type `scale`. Its `k` is 0 if such elements
/// have no scales of this type. 128 lines may also share a scale in f32: see `scales_of`.
constexpr scale_block block_of(dtype scale, dtype elements) noexcept {
  if (scale == dtype::f8e8m0 && is_float8(elements)) return {1, 32};
  if (scale == dtype::f8e4m3 && elements == dtype::f4e2m1x2) return {1, 16};
  if (scale == dtype::f32 && is_float8(elements)) return {1, 128};
  return {1, 0};
}

/// The scales of a factor, one for each block. Strides are in elements of the scales.
struct block_scales {
  std::uint64_t address = 0;  ///< 0: none
  dtype type{};
  scale_block block{1, 1};
  std::int64_t k_blocks = 0;      ///< number of blocks along k
  std::int64_t line_blocks = 0;   ///< number of groups of lines that share scales
  std::int64_t k_stride = 0;      ///< from one block to the next along k
  std::int64_t line_stride = 0;   ///< from one group of lines to the next
  std::int64_t batch_stride = 0;  ///< from one factor of the batch to the next; 0: all share the scales

  /// Sets the block to `k` numbers along k, and to one line if each of the factor's `lines` lines has its own scales,
  /// otherwise to `k` lines.
  void set_block(std::int64_t k, std::int64_t lines) noexcept { block = {line_blocks == lines ? 1 : k, k}; }
};
/// Returns the scales in `view`, without the block. Lines of the factor are the rows of A (`lines_are_rows`) or the
/// columns of B.
block_scales scales_in(const in_any& view, bool lines_are_rows) noexcept;
/// Returns the scales in `view` of a factor with `lines` lines of this element type.
block_scales scales_of(const in_any& view, bool lines_are_rows, std::int64_t lines, dtype elements) noexcept;

/// Returns the type of the sums of products of elements of A and B; dtype{} if no product of these types exists.
inline dtype sums_of(dtype a, dtype b) noexcept {
  if (is_float8(a) && is_float8(b)) return dtype::f32;
  if (a == dtype::f4e2m1x2 && b == a) return dtype::f32;
  if (a != b) return dtype{};
  switch (a) {
    case dtype::f32:
    case dtype::f16:
    case dtype::bf16:
      return dtype::f32;
    case dtype::f64:
    case dtype::c64:
    case dtype::c128:
      return a;
    case dtype::i8:
      return dtype::i32;
    default:
      return dtype{};
  }
}

}  // namespace troupe::matmul
