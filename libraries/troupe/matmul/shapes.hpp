// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/dtype.hpp>
#include <troupe/request/any_operand.hpp>
#include <troupe/request/view_shape.hpp>

/// The extents and types of a product, for the checks of requests and for engines.
namespace troupe::matmul {

/// A matrix, or the first of a batch.
struct batch_of_matrices {
  matrix_shape one;
  std::int64_t count = 1, stride = 0;  ///< how many there are, and how many elements apart
};

/// Precondition: `s.rank` is 2 or 3.
inline batch_of_matrices matrices_of(const tensor_shape& s) noexcept {
  const std::size_t i = s.rank - 2;
  batch_of_matrices out{{s.extents[i], s.extents[i + 1], s.strides[i], s.strides[i + 1]}};
  if (s.rank == 3) out.count = s.extents[0], out.stride = s.strides[0];
  return out;
}

/// Returns true if the elements of a row, or those of a column, are neighbours.
inline bool has_lines(const matrix_shape& s) noexcept {
  return s.row_stride == 1 || s.column_stride == 1 || s.rows == 1 || s.columns == 1;
}

/// Returns how many terms of a sum one element holds: two numbers of 4 bits lie along k.
constexpr std::int64_t terms_in(dtype t) noexcept { return t == dtype::f4e2m1x2 ? 2 : 1; }

constexpr bool is_float8(dtype t) noexcept { return t == dtype::f8e4m3 || t == dtype::f8e5m2; }

/// The extents of a block of elements that share a scale: across the lines of terms, and along them.
struct scale_block {
  std::int64_t lines, terms;
};
/// Returns the block of a scale of this type for these elements; no terms if there is none. A scale in f32 may also be
/// that of 128 lines.
constexpr scale_block block_of(dtype scale, dtype elements) noexcept {
  if (scale == dtype::f8e8m0 && is_float8(elements)) return {1, 32};
  if (scale == dtype::f8e4m3 && elements == dtype::f4e2m1x2) return {1, 16};
  if (scale == dtype::f32 && is_float8(elements)) return {1, 128};
  return {1, 0};
}

/// The scales of a factor, with one for each block. `along` and `across` are the distances from block to block along k,
/// and to those of the next lines, in elements.
struct block_scales {
  std::uint64_t address = 0;  ///< 0: none
  dtype type{};
  scale_block block{};
  std::int64_t blocks_along = 0, blocks_across = 0, along = 0, across = 0, stride = 0;
};
/// `lines_are_rows`: of A, whose lines of terms are rows. `lines` is their number, and `elements` their type.
block_scales scales_of(const in_any& view, bool lines_are_rows, std::int64_t lines, dtype elements) noexcept;

/// Returns the type in which products of these elements are summed; dtype{} if they have no product.
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
