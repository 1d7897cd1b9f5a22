// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <tests/numerics/views.hpp>
#include <vector>

/// What operations should give, computed the plain way in higher precision, with what is needed to bound the error of
/// any other way.
namespace troupe::numerics {

/// The precision of the references: at least 11 bits more than double.
using wide = long double;
static_assert(LDBL_MANT_DIG >= 64, "the references need a long double with 64 bits of mantissa");

/// Any real element type in the precision of the references; the narrow ones go through float, which holds them
/// exactly.
template <class T>
wide widen(const T& v) {
  if constexpr (std::is_arithmetic_v<std::remove_cv_t<T>>)
    return static_cast<wide>(v);
  else
    return static_cast<wide>(static_cast<float>(v));
}

/// One element of a result. A computation that rounds each element at most `roundings` times, in any order of
/// summation, errs by at most about roundings * u * magnitude, where u is the unit roundoff (Higham, Accuracy and
/// Stability, section 3.1).
struct expected {
  wide value = 0;
  wide magnitude = 0;  ///< the same sum over absolute values
  std::int64_t roundings = 0;
};

namespace reference {

/// sum of x(i) * y(i)
template <class X, class Y>
expected inner_product(std::int64_t n, X&& x, Y&& y) {
  expected e{0, 0, n};
  for (std::int64_t i = 0; i < n; ++i) {
    const wide term = x(i) * y(i);
    e.value += term;
    e.magnitude += term < 0 ? -term : term;
  }
  return e;
}

/// alpha * product + beta * before, by BLAS's rules: a factor of 0 leaves its part out, even where that is NaN.
inline expected combine(wide alpha, const expected& product, wide beta, wide before) {
  const auto abs = [](wide v) { return v < 0 ? -v : v; };
  expected e{0, 0, product.roundings + 3};
  if (alpha != 0) e.value = alpha * product.value, e.magnitude = abs(alpha) * product.magnitude;
  if (beta != 0) e.value += beta * before, e.magnitude += abs(beta * before);
  return e;
}

/// alpha * A * B + beta * C, element (i, j) at i + j * rows. A and B are given as they are multiplied: pass
/// `a.transposed()`.
template <class A, class B, class C>
std::vector<expected> gemm(wide alpha, matrix_view<A> a, matrix_view<B> b, wide beta, matrix_view<C> c) {
  std::vector<expected> out;
  for (std::int64_t j = 0; j < c.columns; ++j)
    for (std::int64_t i = 0; i < c.rows; ++i) {
      const expected product = inner_product(
          a.columns, [&](std::int64_t l) { return widen(a(i, l)); }, [&](std::int64_t l) { return widen(b(l, j)); });
      out.push_back(combine(alpha, product, beta, widen(c(i, j))));
    }
  return out;
}

/// alpha * A * x + beta * y
template <class A, class X, class Y>
std::vector<expected> gemv(wide alpha, matrix_view<A> a, vector_view<X> x, wide beta, vector_view<Y> y) {
  std::vector<expected> out;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const expected product = inner_product(
        a.columns, [&](std::int64_t l) { return widen(a(i, l)); }, [&](std::int64_t l) { return widen(x(l)); });
    out.push_back(combine(alpha, product, beta, widen(y(i))));
  }
  return out;
}

/// alpha * x + y
template <class X, class Y>
std::vector<expected> axpy(wide alpha, vector_view<X> x, vector_view<Y> y) {
  std::vector<expected> out;
  for (std::int64_t i = 0; i < x.n; ++i) {
    const wide v = widen(x(i));
    out.push_back(combine(alpha, {v, v < 0 ? -v : v, 0}, 1, widen(y(i))));
  }
  return out;
}

/// alpha * x: always the product, so that 0 times NaN is NaN
template <class X>
std::vector<expected> scal(wide alpha, vector_view<X> x) {
  std::vector<expected> out;
  for (std::int64_t i = 0; i < x.n; ++i) {
    const wide v = alpha * widen(x(i));
    out.push_back({v, v < 0 ? -v : v, 1});
  }
  return out;
}

/// x . y
template <class X, class Y>
expected dot(vector_view<X> x, vector_view<Y> y) {
  return inner_product(x.n, [&](std::int64_t i) { return widen(x(i)); }, [&](std::int64_t i) { return widen(y(i)); });
}

}  // namespace reference
}  // namespace troupe::numerics
