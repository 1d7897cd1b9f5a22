// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <troupe/blas/host/counts.hpp>
#include <troupe/blas/host/numbers.hpp>
#include <troupe/blas/host/routines.hpp>

/// Workarounds for what OpenBLAS computes wrongly or cannot compute.
namespace troupe::blas {

static_assert(sizeof(blasint) == 4, "counts.hpp has the limits of an OpenBLAS that counts in 32 bits");
/// Returns the increment, which is 1 if the field is `tight`.
inline std::int64_t step(const extent& inc) noexcept { return or_tight(inc, 1).value(); }

/// Splits vectors whose elements span more than 32 bits can count into pieces. Calls f(count, offset of x, increment of
/// x, offset of y, increment of y) for each.
template <class F>
void pieces(std::int64_t n, std::int64_t incx, std::int64_t incy, F&& f) {
  const std::int64_t piece = std::max<std::int64_t>(1, most / std::max(std::abs(incx), std::abs(incy)));
  for (std::int64_t i = 0; i < n; i += piece) {
    const std::int64_t count = std::min(piece, n - i);
    const auto offset = [&](std::int64_t inc) { return inc > 0 ? i * inc : (n - i - count) * -inc; };
    const auto step = [&](std::int64_t inc) { return count == 1 ? 1 : static_cast<blasint>(inc); };
    f(static_cast<blasint>(count), offset(incx), step(incx), offset(incy), step(incy));
  }
}
/// Splits one vector, whose order does not matter. Calls f(count, offset, increment) for each piece.
template <class F>
void pieces(std::int64_t n, std::int64_t inc, F&& f) {
  inc = std::abs(inc);
  pieces(n, inc, inc,
         [&f](blasint count, std::int64_t at, blasint step, std::int64_t, blasint) { f(count, at, step); });
}

/// x = beta * x, where a beta of 0 clears x, whatever it holds.
template <class T, class F>
void scale(T* x, std::int64_t n, std::int64_t inc, F beta) {
  inc = std::abs(inc);
  if (beta == F(1)) return;
  if (beta == F(0))
    for (std::int64_t i = 0; i < n; ++i) x[i * inc] = T{};
  else
    for (std::int64_t i = 0; i < n; ++i) x[i * inc] = product(beta, x[i * inc]);
}
template <class T, class F>
void scale(T* c, std::int64_t m, std::int64_t n, std::int64_t ld, F beta) {
  if (beta == F(1)) return;
  for (std::int64_t j = 0; j < n; ++j) scale(c + j * ld, m, 1, beta);
}
/// Returns the range of rows [first, second) of column j of a triangle.
inline std::pair<std::int64_t, std::int64_t> rows_of(triangle uplo, std::int64_t n, std::int64_t j) noexcept {
  return uplo == triangle::lower ? std::pair{j, n} : std::pair{std::int64_t{0}, j + 1};
}
template <class T, class F>
void scale(triangle uplo, T* c, std::int64_t n, std::int64_t ld, F beta) {
  if (beta == F(1)) return;
  for (std::int64_t j = 0; j < n; ++j) {
    const auto [first, last] = rows_of(uplo, n, j);
    scale(c + j * ld + first, last - first, 1, beta);
  }
}

/// OpenBLAS scales wrongly by some factors: 0 can keep a NaN, NaN can write zeros (0.3.21). `scaled_here` scales by
/// such a factor itself and returns the factor 1 for OpenBLAS.
template <class F>
bool must_scale_here(F beta) noexcept {
  return beta == F(0) || !is_finite(beta);
}
template <class F, class Scale>
F scaled_here(F beta, Scale&& scaling) {
  if (!must_scale_here(beta)) return beta;
  scaling();
  return F(1);
}

/// Returns the reply, and writes it to `result` if the request has one.
template <class R>
result<reply_to<R>> answer(const R& r, reply_to<R> value) {
  if (r.result) *r.result->data() = value;
  return value;
}

}  // namespace troupe::blas
