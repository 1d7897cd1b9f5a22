// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/host/row_products.hpp>

/// Products of few rows with a large matrix, as in a step of a recurrence with a small batch. The matrix is read once,
/// without packing it first. From 4 rows on, OpenBLAS is faster, although it packs the matrix.
namespace troupe::dnn::host {

inline constexpr std::int64_t small_product_rows = 3;

/// Computes c += a * transposed b, where a is m x k and b is n x k; m is at most `small_product_rows`.
void add_dots(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<float> a,
              rows_of<float> b, float* c, std::int64_t stride);
void add_dots(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<double> a,
              rows_of<double> b, double* c, std::int64_t stride);
/// Computes c += a * b, where a is m x k and b is k x n; m is at most `small_product_rows`.
void add_lines(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<float> a,
               rows_of<float> b, float* c, std::int64_t stride);
void add_lines(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<double> a,
               rows_of<double> b, double* c, std::int64_t stride);

/// Computes c += a * b, or c += a * transposed b, by one of the functions above if m is small enough, otherwise by
/// OpenBLAS.
template <class N>
void add_product(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<N> a,
                 rows_of<N> b, N* c, std::int64_t stride) {
  if (m > small_product_rows)
    multiply_rows<N>(m, n, k, a, b, 1, c, stride);
  else if (b.transposed)
    add_dots(on, m, n, k, a, b, c, stride);
  else
    add_lines(on, m, n, k, a, b, c, stride);
}

}  // namespace troupe::dnn::host
