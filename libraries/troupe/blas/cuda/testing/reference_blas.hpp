// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

/// BLAS by its definitions, in plain loops, for the fake cuBLAS. Matrices are functions of (row, column).
namespace troupe::blas::testing {

using i64 = std::int64_t;

template <class E>
inline constexpr bool is_complex_number = false;
template <class R>
inline constexpr bool is_complex_number<std::complex<R>> = true;

template <class E>
E conjugated(E v) {
  if constexpr (is_complex_number<E>)
    return std::conj(v);
  else
    return v;
}
template <class E>
E real_only(E v) {
  if constexpr (is_complex_number<E>)
    return v.real();
  else
    return v;
}
// Computes products by the plain formula, because std::complex treats infinities specially.
template <class E>
E times(E a, E b) {
  if constexpr (is_complex_number<E>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}

/// Returns element i of a vector with n elements.
template <class E>
E& element(E* x, i64 n, i64 inc, i64 i) {
  return inc > 0 ? x[i * inc] : x[(i - n + 1) * inc];
}

/// Maps (i, j) to the address of an element, or to null if the element is not stored.
template <class E>
auto full(E* a, i64 ld) {
  return [=](i64 i, i64 j) -> E* { return a + i + j * ld; };
}
template <class E>
auto band(E* a, i64 ld, i64 below, i64 above) {
  return [=](i64 i, i64 j) -> E* { return i - j > below || j - i > above ? nullptr : a + above + i - j + j * ld; };
}
template <class E>
auto packed(E* a, i64 n, bool lower) {
  return [=](i64 i, i64 j) -> E* { return a + (lower ? i + j * (2 * n - j - 1) / 2 : i + j * (j + 1) / 2); };
}

/// The matrix that is meant by its stored part.
template <class S>
auto general(S at) {
  return [=](i64 i, i64 j) {
    const auto* const p = at(i, j);
    using E = std::remove_cvref_t<decltype(*p)>;
    return p == nullptr ? E{} : *p;
  };
}
template <bool Hermitian, class S>
auto symmetric(S at, bool lower) {
  return [=](i64 i, i64 j) {
    const bool stored = lower ? i >= j : i <= j;
    const auto* const p = stored ? at(i, j) : at(j, i);
    using E = std::remove_cvref_t<decltype(*p)>;
    if (p == nullptr) return E{};
    if (Hermitian && i == j) return real_only(*p);
    return Hermitian && !stored ? conjugated(*p) : *p;
  };
}
template <class S>
auto triangular(S at, bool lower, bool unit) {
  return [=](i64 i, i64 j) {
    using E = std::remove_cvref_t<decltype(*at(i, j))>;
    if (i == j && unit) return E(1);
    if (lower ? i < j : i > j) return E{};
    const auto* const p = at(i, j);
    return p == nullptr ? E{} : *p;
  };
}
/// Returns op(M).
template <class M>
auto apply_op(cublasOperation_t o, M m) {
  return [=](i64 i, i64 j) { return o == CUBLAS_OP_N ? m(i, j) : o == CUBLAS_OP_T ? m(j, i) : conjugated(m(j, i)); };
}
template <class M>
auto transposed(M m) {
  return [=](i64 i, i64 j) { return m(j, i); };
}
template <class M>
auto conjugate_transposed(M m) {
  return [=](i64 i, i64 j) { return conjugated(m(j, i)); };
}

/// A real factor, which scales the real and the imaginary part separately.
template <class R>
std::complex<R> times(R a, std::complex<R> b) {
  return {a * b.real(), a * b.imag()};
}
/// A factor, and whether it is on the host: then a factor of 0 leaves out what it multiplies.
template <class F>
struct known {
  F value;
  bool to_host;
};

/// Updates `place`: if beta is 0, it is not read; if alpha is 0 and on the host, the sum is not read. cuBLAS does not
/// document how it treats an alpha of 0 in device memory: here it multiplies.
template <class E, class A, class B, class Sum>
void update(E& place, known<A> alpha, known<B> beta, Sum&& sum) {
  E out{};
  if (beta.value != B(0)) out = beta.value == B(1) ? place : times(beta.value, place);
  if (!alpha.to_host || alpha.value != A(0)) out += times(alpha.value, E(sum()));
  place = out;
}
/// C = alpha * A * B + beta * C for the elements with `wanted(i, j)`; A has k columns.
template <class E, class A, class B, class Ma, class Mb, class C, class W>
void multiply(i64 m, i64 n, i64 k, known<A> alpha, Ma a, Mb b, known<B> beta, C c, W wanted) {
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i)
      if (wanted(i, j))
        update(*c(i, j), alpha, beta, [&] {
          E sum{};
          for (i64 l = 0; l < k; ++l) sum += times(E(a(i, l)), E(b(l, j)));
          return sum;
        });
}
inline auto everywhere() {
  return [](i64, i64) { return true; };
}
inline auto within(bool lower) {
  return [lower](i64 i, i64 j) { return lower ? i >= j : i <= j; };
}

/// Solves A * X = x and replaces x by X, where A is triangular: lower or upper after op.
template <class A, class X>
void solve(i64 n, A a, bool lower, bool unit, X x) {
  for (i64 step = 0; step < n; ++step) {
    const i64 i = lower ? step : n - 1 - step;
    auto value = x(i);
    for (i64 l = lower ? 0 : i + 1; l < (lower ? i : n); ++l) value -= times(a(i, l), x(l));
    x(i) = unit ? value : value / a(i, i);
  }
}
/// Returns true if op(A) is lower triangular, where A is stored as `uplo` says.
inline bool lower_as_seen(cublasFillMode_t uplo, cublasOperation_t o) {
  return (uplo == CUBLAS_FILL_MODE_LOWER) == (o == CUBLAS_OP_N);
}

}  // namespace troupe::blas::testing
