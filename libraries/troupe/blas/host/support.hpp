// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <troupe/blas/host/counts.hpp>
#include <troupe/blas/host/numbers.hpp>
#include <troupe/blas/host/routines.hpp>

/// What OpenBLAS does wrong or not at all, and the ways round it.
namespace troupe::blas {

static_assert(sizeof(blasint) == 4, "counts.hpp has the limits of an OpenBLAS that counts in 32 bits");
/// The increment to use.
inline std::int64_t step(const extent& inc) noexcept { return or_tight(inc, 1).value(); }

/// Vectors that are longer or wider than 32 bits go in pieces. f(count, x offset, x increment, y offset, y increment).
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
/// The same for one vector, whose order does not matter. f(count, offset, increment).
template <class F>
void pieces(std::int64_t n, std::int64_t inc, F&& f) {
  inc = std::abs(inc);
  pieces(n, inc, inc,
         [&f](blasint count, std::int64_t at, blasint step, std::int64_t, blasint) { f(count, at, step); });
}

/// x = beta * x by the rule for what is added to: a factor of 0 clears, whatever x held.
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
/// Column j of a triangle: rows [first, second).
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

/// OpenBLAS's scaling goes wrong with some factors: 0 may keep a NaN, NaN may write zeros (0.3.21). Those it must not
/// see: `scaled_here` does them and answers the factor 1.
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

/// The reply, which also goes to where the request wants it.
template <class R>
result<typename R::reply> answer(const R& r, typename R::reply value) {
  if (r.result) *r.result->data() = value;
  return value;
}

}  // namespace troupe::blas
