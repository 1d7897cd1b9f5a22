// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/buffer.hpp>
#include <troupe/request/view_operand.hpp>

namespace troupe {

/// The numbers of elements from an element of a matrix to the next one below it, and to the one to its right.
struct matrix_strides {
  extent row, column;
};

namespace detail {

/// A part of a buffer with the shape of the matrix in it. If the shape is wrong, every use of the memory is refused
/// with the reason, and the shape has the extents that were asked for, at least 0.
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
/// are views of the same memory; nothing is copied. If a view does not fit its buffer, every use of it is refused with
/// that reason. An extent may be 0: then there are no elements, and strides do not matter.
///   matrix a(gpu.alloc<float>(6), 2, 3);        // 2 rows of 3, row by row
///   blas::multiply(gpu, c, a, b.transposed());
template <class T>
class matrix {
 public:
  using element_type = T;

  /// Makes no matrix: every request refuses it.
  matrix() noexcept = default;
  /// The first `rows * columns` elements of `memory`.
  matrix(const buffer<T>& memory, extent rows, extent columns, element_order o = element_order::row_major)
      : view_(detail::view_matrix(memory.memory(), rows, columns, o, sizeof(T))) {}
  /// Elements of `memory`, from its first on, that are as far apart as the strides say. Strides must be at least 1, and
  /// no two elements may share a place.
  matrix(const buffer<T>& memory, extent rows, extent columns, const matrix_strides& strides)
      : view_(detail::view_matrix(memory.memory(), rows, columns, strides, sizeof(T))) {}

  extent rows() const noexcept { return view_.shape.rows; }
  extent columns() const noexcept { return view_.shape.columns; }
  extent elements() const noexcept { return rows() * columns(); }
  const matrix_shape& shape() const noexcept { return view_.shape; }
  /// Returns true if the elements follow each other in this order, without gaps.
  bool is_dense(element_order o) const noexcept {
    if (rows() == 0 || columns() == 0) return true;
    const matrix_shape s = o == element_order::row_major ? view_.shape : view_.shape.transposed();
    return (s.columns <= 1 || s.column_stride == 1) && (s.rows <= 1 || s.row_stride == s.columns);
  }
  /// Returns the memory from the first element to the last, including any gaps: for uploads and downloads of matrices
  /// without gaps, for example.
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
