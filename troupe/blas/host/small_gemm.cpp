// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products so small that what OpenBLAS does before it multiplies costs more than the product.
#include <cstring>

#include "processors.hpp"
#include "products.hpp"

namespace troupe::blas {
namespace {

// As many elements as the widest processors take at once; the compiler makes two or four of it for others.
template <class T>
struct wide_of {
  static constexpr std::int64_t lanes = 64 / sizeof(T);
  using type __attribute__((vector_size(64))) = T;
};
template <class T>
using wide = typename wide_of<T>::type;

// By reference: how such a vector is passed depends on the processor.
template <class T>
TROUPE_INLINE void load(wide<T>& to, const T* from) noexcept {
  std::memcpy(&to, from, sizeof to);
}

// Rows [row, row + rows) of op(A), a column of it in each; rows that are missing are 0.
template <class T>
TROUPE_INLINE void load_rows(const matrix_product<T, T>& p, std::int64_t row, std::int64_t rows,
                             wide<T>* panel) noexcept {
  for (std::int64_t l = 0; l < p.k; ++l) {
    if (rows == wide_of<T>::lanes && p.trans_a == op::none) {
      load(panel[l], p.a + row + l * p.lda);
      continue;
    }
    T column[wide_of<T>::lanes] = {};
    for (std::int64_t i = 0; i < rows; ++i)
      column[i] = p.trans_a == op::none ? p.a[row + i + l * p.lda] : p.a[l + (row + i) * p.lda];
    load<T>(panel[l], column);
  }
}

template <class T>
TROUPE_INLINE void store(const matrix_product<T, T>& p, std::int64_t row, std::int64_t rows, std::int64_t column,
                         const wide<T>& sums) noexcept {
  T* const c = p.c + row + column * p.ldc;
  if (rows == wide_of<T>::lanes) {
    wide<T> result = p.alpha * sums, before;
    if (p.beta != 0) {
      load(before, c);
      result += p.beta * before;
    }
    std::memcpy(c, &result, sizeof result);
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i) c[i] = p.beta == 0 ? p.alpha * sums[i] : p.alpha * sums[i] + p.beta * c[i];
}

// Columns [column, column + Columns) of one panel.
template <int Columns, class T>
TROUPE_INLINE void multiply_columns(const matrix_product<T, T>& p, const wide<T>* panel, std::int64_t row,
                                    std::int64_t rows, std::int64_t column) noexcept {
  const std::int64_t down = p.trans_b == op::none ? 1 : p.ldb, across = p.trans_b == op::none ? p.ldb : 1;
  const T* const b = p.b + column * across;
  wide<T> sums[Columns] = {};
  for (std::int64_t l = 0; l < p.k; ++l)
    for (int j = 0; j < Columns; ++j) sums[j] += panel[l] * b[j * across + l * down];
  for (int j = 0; j < Columns; ++j) store(p, row, rows, column + j, sums[j]);
}

template <class T>
TROUPE_INLINE void multiply_panels(const matrix_product<T, T>& p) noexcept {
  wide<T> panel[small_extent];
  for (std::int64_t row = 0; row < p.m; row += wide_of<T>::lanes) {
    const std::int64_t rows = std::min(wide_of<T>::lanes, p.m - row);
    load_rows(p, row, rows, panel);
    std::int64_t column = 0;
    for (; column + 4 <= p.n; column += 4) multiply_columns<4>(p, panel, row, rows, column);
    for (; column < p.n; ++column) multiply_columns<1>(p, panel, row, rows, column);
  }
}

}  // namespace

TROUPE_FOR_EACH_PROCESSOR
void multiply_small(const matrix_product<float, float>& p) noexcept { multiply_panels(p); }
TROUPE_FOR_EACH_PROCESSOR
void multiply_small(const matrix_product<double, double>& p) noexcept { multiply_panels(p); }

}  // namespace troupe::blas
