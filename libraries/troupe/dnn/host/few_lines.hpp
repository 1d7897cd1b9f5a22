// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/host/row_products.hpp>

/// Products of few rows with a large matrix, which is read once and not packed, as in a step of an RNN with a small
/// batch. From 4 rows on OpenBLAS, which packs it, is faster.
namespace troupe::dnn::host {

inline constexpr std::int64_t most_few_lines = 3;

/// c += a * transposed b, of m rows of k numbers and n rows of k numbers; m is at most `most_few_lines`.
void add_dots(const execution_context& w, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<float> a,
              rows_of<float> b, float* c, std::int64_t stride);
void add_dots(const execution_context& w, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<double> a,
              rows_of<double> b, double* c, std::int64_t stride);
/// c += a * b, of m rows of k numbers and k rows of n numbers; m is at most `most_few_lines`.
void add_lines(const execution_context& w, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<float> a,
               rows_of<float> b, float* c, std::int64_t stride);
void add_lines(const execution_context& w, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<double> a,
               rows_of<double> b, double* c, std::int64_t stride);

/// c += a * b, or a * transposed b, with the faster of these and OpenBLAS.
template <class N>
void add_product(const execution_context& w, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<N> a, rows_of<N> b,
                 N* c, std::int64_t stride) {
  if (m > most_few_lines)
    multiply_rows<N>(m, n, k, a, b, 1, c, stride);
  else if (b.transposed)
    add_dots(w, m, n, k, a, b, c, stride);
  else
    add_lines(w, m, n, k, a, b, c, stride);
}

}  // namespace troupe::dnn::host
