// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/buffer.hpp>
#include <troupe/request/operands/view_operand.hpp>

namespace troupe {

/// The distances, in elements, from an element of a matrix to the next one below it, and to the next one to its right.
struct matrix_strides {
  extent row, column;
};

namespace detail {

/// A range of memory with the shape of the matrix in it. If the shape is wrong, every request refuses the memory with
/// the reason; the shape then has the requested extents, or 0 for negative ones.
struct viewed_matrix {
  memory_range memory;
  matrix_shape shape;
};
viewed_matrix view_matrix(const memory_range& memory, extent rows, extent columns, const matrix_strides& strides,
                          std::size_t element_bytes);
viewed_matrix view_matrix(const memory_range& memory, extent rows, extent columns, element_order o,
                          std::size_t element_bytes);
viewed_matrix block_of(const viewed_matrix& m, extent first_row, extent first_column, extent rows, extent columns,
                       std::size_t element_bytes);

}  // namespace detail

/// A matrix in the memory of a device: a view of a buffer, which it keeps alive. Blocks, rows, columns and transposes
/// are views of the same memory; nothing is copied. If a view does not fit its buffer, every request refuses it with
/// the reason. An extent may be 0: the matrix then has no elements, and its strides do not matter.
///   matrix a(gpu.alloc<float>(6), 2, 3);        // 2 rows of 3, row by row
///   blas::multiply(gpu, c, a, b.transposed());
template <class T>
class matrix {
 public:
  using element_type = T;

  /// Makes an empty view, which every request refuses.
  matrix() noexcept = default;
  /// Makes a matrix of the first `rows * columns` elements of `memory`.
  matrix(const buffer<T>& memory, extent rows, extent columns, element_order o = element_order::row_major)
      : view_(detail::view_matrix(memory.memory(), rows, columns, o, sizeof(T))) {}
  /// Makes a matrix of elements of `memory` at these strides, beginning with the first element. Strides must be at
  /// least 1, and no two elements may share an address.
  matrix(const buffer<T>& memory, extent rows, extent columns, const matrix_strides& strides)
      : view_(detail::view_matrix(memory.memory(), rows, columns, strides, sizeof(T))) {}

  extent rows() const noexcept { return view_.shape.rows; }
  extent columns() const noexcept { return view_.shape.columns; }
  extent elements() const noexcept { return rows() * columns(); }
  const matrix_shape& shape() const noexcept { return view_.shape; }
  /// Returns true if the elements follow each other in this order without gaps.
  bool is_dense(element_order o) const noexcept {
    if (rows() == 0 || columns() == 0) return true;
    const matrix_shape s = o == element_order::row_major ? view_.shape : view_.shape.transposed();
    return (s.columns <= 1 || s.column_stride == 1) && (s.rows <= 1 || s.row_stride == s.columns);
  }
  /// Returns the memory from the first element to the last, including gaps. If there are no gaps, use it to upload or
  /// download the matrix.
  buffer<T> memory() const { return buffer<T>(view_.memory); }

  matrix transposed() const { return matrix({view_.memory, view_.shape.transposed()}); }
  matrix block(extent first_row, extent first_column, extent rows, extent columns) const {
    return matrix(detail::block_of(view_, first_row, first_column, rows, columns, sizeof(T)));
  }
  /// Returns row `i`, as a matrix of one row.
  matrix row(extent i) const { return block(i, 0, 1, columns()); }
  /// Returns column `j`, as a matrix of one column.
  matrix column(extent j) const { return block(0, j, rows(), 1); }

 private:
  friend class tensor<T>;
  explicit matrix(detail::viewed_matrix view) noexcept : view_(std::move(view)) {}

  detail::viewed_matrix view_;
};

}  // namespace troupe
