// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <troupe/blas/elements.hpp>

/// Arithmetic on all four element types. Complex products use the plain formula, as in BLAS: infinities and NaN in a
/// real or imaginary part propagate without special treatment.
namespace troupe::blas {

template <class T>
T sum(T a, T b) noexcept {
  if constexpr (is_real<T>)
    return a + b;
  else
    return {a.real + b.real, a.imag + b.imag};
}
template <class T>
T difference(T a, T b) noexcept {
  if constexpr (is_real<T>)
    return a - b;
  else
    return {a.real - b.real, a.imag - b.imag};
}
template <class T>
T product(T a, T b) noexcept {
  if constexpr (is_real<T>)
    return a * b;
  else
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
template <class T>
  requires is_complex<T>
T product(real_of<T> a, T b) noexcept {
  return {a * b.real, a * b.imag};
}
template <class T>
T conjugate(T a) noexcept {
  if constexpr (is_real<T>)
    return a;
  else
    return {a.real, -a.imag};
}
/// Returns |a|, or |real| + |imag| for complex elements.
template <class T>
real_of<T> magnitude(T a) noexcept {
  if constexpr (is_real<T>)
    return std::abs(a);
  else
    return std::abs(a.real) + std::abs(a.imag);
}
template <class T>
bool is_finite(T a) noexcept {
  if constexpr (is_real<T>)
    return std::isfinite(a);
  else
    return std::isfinite(a.real) && std::isfinite(a.imag);
}
/// Makes an element of a Hermitian diagonal real.
template <class T>
void make_real(T& a) noexcept {
  if constexpr (is_complex<T>) a.imag = 0;
}

}  // namespace troupe::blas
