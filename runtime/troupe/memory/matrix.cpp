// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/memory/internal/refused_view.hpp>
#include <troupe/memory/matrix.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::detail {
namespace {

std::int64_t shown(extent e) noexcept { return e < 0 ? 0 : e.value(); }
matrix_shape shape_of(extent rows, extent columns, const matrix_strides& by) noexcept {
  return {shown(rows), shown(columns), shown(by.row), shown(by.column)};
}

extent span_of(extent rows, extent columns, const matrix_strides& by) noexcept {
  if (rows == 0 || columns == 0) return 0;
  return (rows - 1) * by.row + (columns - 1) * by.column + 1;
}

// Returns why such a matrix cannot exist; empty if it can.
std::string why_impossible(extent rows, extent columns, const matrix_strides& by) {
  if (rows < 0) return "rows is " + text(rows) + "; expected at least 0";
  if (columns < 0) return "columns is " + text(columns) + "; expected at least 0";
  if (rows == 0 || columns == 0) return {};
  if (rows > 1 && by.row < 1) return "the row stride is " + text(by.row) + "; expected at least 1";
  if (columns > 1 && by.column < 1) return "the column stride is " + text(by.column) + "; expected at least 1";
  const extent row_span = (columns - 1) * by.column + 1, column_span = (rows - 1) * by.row + 1;
  if (rows > 1 && columns > 1 && by.row < row_span && by.column < column_span)
    return "strides " + text(by.row) + " and " + text(by.column) +
           " interleave its rows with its columns; expected a " + "row stride of at least " + text(row_span) +
           ", or a column stride of at least " + text(column_span);
  return {};
}

}  // namespace

viewed_matrix view_matrix(const memory_range& memory, extent rows, extent columns, const matrix_strides& strides,
                          std::size_t element_bytes) {
  const matrix_shape shape = shape_of(rows, columns, strides);
  if (!has_memory(memory)) return {memory, shape};
  const std::string impossible = why_impossible(rows, columns, strides);
  if (!impossible.empty()) return {refused_view(memory, "matrix: " + impossible), shape};
  const extent span = span_of(rows, columns, strides), have = size_of(memory, element_bytes);
  if (span.overflowed() || span > have)
    return {refused_view(memory, "matrix: " + text(rows) + " x " + text(columns) + " elements with strides " +
                                     text(strides.row) + " and " + text(strides.column) + " span " + text(span) +
                                     (span.overflowed() ? "" : " elements") + "; the buffer has " + text(have)),
            shape};
  return {slice_of(memory, 0, span, element_bytes), shape};
}

viewed_matrix view_matrix(const memory_range& memory, extent rows, extent columns, element_order o,
                          std::size_t element_bytes) {
  return view_matrix(memory, rows, columns,
                     o == element_order::row_major ? matrix_strides{columns, 1} : matrix_strides{1, rows},
                     element_bytes);
}

viewed_matrix block_of(const viewed_matrix& m, extent first_row, extent first_column, extent rows, extent columns,
                       std::size_t element_bytes) {
  const matrix_strides by{m.shape.row_stride, m.shape.column_stride};
  const matrix_shape shape = shape_of(rows, columns, by);
  if (!has_memory(m.memory)) return {m.memory, shape};
  const auto inside = [](extent first, extent count, std::int64_t have) {
    const extent end = first + count;
    return first >= 0 && count >= 0 && !end.overflowed() && end <= have;
  };
  if (!inside(first_row, rows, m.shape.rows) || !inside(first_column, columns, m.shape.columns))
    return {
        refused_view(m.memory, "block: " + text(rows) + " x " + text(columns) + " elements from row " +
                                   text(first_row) + ", column " + text(first_column) + " on do not fit a matrix of " +
                                   text(extent(m.shape.rows)) + " x " + text(extent(m.shape.columns))),
        shape};
  const extent span = span_of(rows, columns, by);
  const extent first = span == 0 ? extent(0) : first_row * by.row + first_column * by.column;
  return {slice_of(m.memory, first, span, element_bytes), shape};
}

}  // namespace troupe::detail
