// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cmath>
#include <limits>
#include <troupe/base/complex.hpp>
#include <type_traits>

namespace troupe::numerics {

/// The precision of the references: at least 11 bits more than double.
using wide = long double;
static_assert(LDBL_MANT_DIG >= 64, "the references need a long double with 64 bits of mantissa");

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<basic_complex<T>> = true;

/// The type of T's parts: T itself, if it is real.
template <class T>
using part_of = real_of<std::remove_cv_t<T>>;

/// Any real element type in the precision of the references; narrow types go through float, which represents them
/// exactly.
template <class T>
wide widen(const T& v) {
  if constexpr (std::is_arithmetic_v<std::remove_cv_t<T>>)
    return static_cast<wide>(v);
  else
    return static_cast<wide>(static_cast<float>(v));
}

/// A number of any element type in the precision of the references.
struct number {
  wide re = 0, im = 0;

  number() = default;
  template <class T>
  number(const T& v) {
    if constexpr (is_complex_type<T>)
      re = widen(v.real), im = widen(v.imag);
    else
      re = widen(v);
  }
  number(wide real_part, wide imaginary_part) : re(real_part), im(imaginary_part) {}

  friend number operator+(number a, number b) { return {a.re + b.re, a.im + b.im}; }
  friend number operator-(number a, number b) { return {a.re - b.re, a.im - b.im}; }
  friend number operator*(number a, number b) {
    if (a.im == 0 && b.im == 0) return {a.re * b.re, 0};  // real numbers stay real, infinite ones too
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend bool operator==(number a, number b) { return a.re == b.re && a.im == b.im; }
  number conjugated() const { return {re, -im}; }
  /// |re| + |im|: the measure for bounds of errors.
  wide size() const { return std::fabs(re) + std::fabs(im); }
  bool is_nan() const { return std::isnan(re) || std::isnan(im); }
};

/// Rounds a number of the reference to an element.
template <class T>
T as_element(number v) {
  if constexpr (is_complex_type<T>)
    return T(static_cast<part_of<T>>(v.re), static_cast<part_of<T>>(v.im));
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(v.re);
  else
    return T(static_cast<double>(v.re));
}

/// NaN, in all parts; for whole numbers a value that no test uses.
template <class T>
T poison() {
  if constexpr (is_complex_type<T>)
    return T(poison<part_of<T>>(), poison<part_of<T>>());
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::numeric_limits<T>::min() + 1);
  else
    return std::numeric_limits<T>::quiet_NaN();
}

}  // namespace troupe::numerics
