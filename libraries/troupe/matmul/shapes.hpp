// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/dtype.hpp>
#include <troupe/request/any_operand.hpp>
#include <troupe/request/view_shape.hpp>

/// Extents and types of products, for the checks of requests and for engines.
namespace troupe::matmul {

/// A batch of matrices of one shape; `one` is the shape of the first.
struct batch_of_matrices {
  matrix_shape one;
  std::int64_t count = 1, stride = 0;  ///< number of matrices, and elements from one to the next
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

/// Returns how many numbers along k one element holds: f4e2m1x2 packs two.
constexpr std::int64_t terms_in(dtype t) noexcept { return t == dtype::f4e2m1x2 ? 2 : 1; }

constexpr bool is_float8(dtype t) noexcept { return t == dtype::f8e4m3 || t == dtype::f8e5m2; }

/// The extents of a block of elements that share a scale: `lines` rows of A or columns of B, and `terms` along k.
struct scale_block {
  std::int64_t lines, terms;
};
/// Returns the block of a scale of this type for these elements; `terms` is 0 if the types do not go together. A scale
/// in f32 may also be shared by 128 lines.
constexpr scale_block block_of(dtype scale, dtype elements) noexcept {
  if (scale == dtype::f8e8m0 && is_float8(elements)) return {1, 32};
  if (scale == dtype::f8e4m3 && elements == dtype::f4e2m1x2) return {1, 16};
  if (scale == dtype::f32 && is_float8(elements)) return {1, 128};
  return {1, 0};
}

/// The scales of a factor, one for each block. `along` and `across` are the strides of blocks along k, and from one
/// group of lines to the next, in elements.
struct block_scales {
  std::uint64_t address = 0;  ///< 0: none
  dtype type{};
  scale_block block{};
  std::int64_t blocks_along = 0, blocks_across = 0, along = 0, across = 0, stride = 0;
};
/// Returns the scales of A (`lines_are_rows`) or B, with `lines` rows or columns of `elements`.
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
