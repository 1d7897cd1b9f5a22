// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/blas/host/products.hpp>

/// Products of row-major matrices.
namespace troupe::dnn::host {

/// A row-major matrix as a factor.
template <class N>
struct rows_of {
  const N* data;
  std::int64_t stride;      ///< stride of rows, in elements
  bool transposed = false;  ///< true if the stored matrix is the transposed factor
};

/// Computes c = a * b + beta * c, where a is m x k and b is k x n. BLAS has column-major matrices; it computes this as
/// the product of the transposed factors in reverse order.
template <class N>
void multiply_rows(std::int64_t m, std::int64_t n, std::int64_t k, rows_of<N> a, rows_of<N> b, N beta, N* c,
                   std::int64_t stride) {
  blas::multiply<N, N>(n, m, k, {b.data, b.stride, b.transposed}, {a.data, a.stride, a.transposed}, beta, c, stride);
}

/// Calls `f(first, count)` for runs of lines that cover all lines, and are short enough for OpenBLAS, which counts in
/// 32 bits.
template <class F>
void for_each_run_of_lines(std::int64_t lines, F&& f) {
  constexpr std::int64_t most = 1 << 30;
  for (std::int64_t first = 0; first < lines; first += most) f(first, std::min(most, lines - first));
}

}  // namespace troupe::dnn::host
