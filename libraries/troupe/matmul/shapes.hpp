// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/dtype.hpp>
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

/// Returns the type in which products of these elements are summed; dtype{} if they have no product.
inline dtype sums_of(dtype a, dtype b) noexcept {
  const auto is_float8 = [](dtype t) { return t == dtype::f8e4m3 || t == dtype::f8e5m2; };
  if (is_float8(a) && is_float8(b)) return dtype::f32;
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
