// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

/// Vectors and matrices as the references and comparisons see them: an element by its index, whatever its place in
/// memory.
namespace troupe::numerics {

/// BLAS's vector: element i at i * inc from `first`, or at (n - 1 - i) * -inc when inc is negative.
template <class T>
struct vector_view {
  T* first;
  std::int64_t n;
  std::int64_t inc = 1;

  /// Where element i lies.
  std::int64_t offset(std::int64_t i) const { return inc > 0 ? i * inc : (n - 1 - i) * -inc; }
  T& operator()(std::int64_t i) const { return first[offset(i)]; }
  /// How many elements from `first` on it spans, gaps included.
  std::int64_t span() const { return (n - 1) * (inc > 0 ? inc : -inc) + 1; }
};

/// Element (i, j) at i * row_step + j * column_step: column-major, row-major, transposed, with or without gaps.
template <class T>
struct matrix_view {
  T* first;
  std::int64_t rows, columns;
  std::int64_t row_step, column_step;

  std::int64_t offset(std::int64_t i, std::int64_t j) const { return i * row_step + j * column_step; }
  T& operator()(std::int64_t i, std::int64_t j) const { return first[offset(i, j)]; }
  std::int64_t span() const { return (rows - 1) * row_step + (columns - 1) * column_step + 1; }
  matrix_view transposed() const { return {first, columns, rows, column_step, row_step}; }
};

template <class T>
matrix_view<T> column_major(T* first, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return {first, rows, columns, 1, ld};
}

}  // namespace troupe::numerics
