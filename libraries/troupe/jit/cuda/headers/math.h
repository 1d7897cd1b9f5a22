// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// NVRTC has the functions of C for float and double. This header adds constants, the macros of C, and other types.
#pragma once
#include "troupe_device/quiet.h"

#include "troupe_device/mixed.h"

#define INFINITY __builtin_bit_cast(float, 0x7f800000U)
#define NAN __builtin_bit_cast(float, 0x7fc00000U)
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ULL)
#define HUGE_VALL static_cast<long double>(HUGE_VAL)
typedef float float_t;
typedef double double_t;

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#define MATH_ERRNO 1
#define MATH_ERREXCEPT 2
#define math_errhandling 0
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)
#define FP_FAST_FMA 1
#define FP_FAST_FMAF 1

extern "C++" {  // the #include may be inside extern "C"

template <class T>
constexpr ::troupe_device::for_number<T, int> fpclassify(T x) {
  const double value = static_cast<double>(x), a = value < 0 ? -value : value;
  if (a != a) return FP_NAN;
  const double least = ::troupe_device::kind<T>() == ::troupe_device::single ? 1.17549435e-38 : 2.2250738585072014e-308;
  return a == HUGE_VAL ? FP_INFINITE : a == 0 ? FP_ZERO : a < least ? FP_SUBNORMAL : FP_NORMAL;
}
template <class T>
constexpr ::troupe_device::for_number<T, bool> isnormal(T x) {
  return fpclassify(x) == FP_NORMAL;
}
template <class T>
constexpr ::troupe_device::for_whole<T, bool> isfinite(T) {
  return true;
}
template <class T>
constexpr ::troupe_device::for_whole<T, bool> isinf(T) {
  return false;
}
template <class T>
constexpr ::troupe_device::for_whole<T, bool> isnan(T) {
  return false;
}
template <class T>
constexpr ::troupe_device::for_whole<T, bool> signbit(T x) {
  return static_cast<double>(x) < 0;
}
template <class A, class B>
constexpr ::troupe_device::for_numbers<A, B, bool> isgreater(A a, B b) {
  return a > b;
}
template <class A, class B>
constexpr ::troupe_device::for_numbers<A, B, bool> isgreaterequal(A a, B b) {
  return a >= b;
}
template <class A, class B>
constexpr ::troupe_device::for_numbers<A, B, bool> isless(A a, B b) {
  return a < b;
}
template <class A, class B>
constexpr ::troupe_device::for_numbers<A, B, bool> islessequal(A a, B b) {
  return a <= b;
}
template <class A, class B>
constexpr ::troupe_device::for_numbers<A, B, bool> islessgreater(A a, B b) {
  return a < b || a > b;
}
template <class A, class B>
constexpr ::troupe_device::for_numbers<A, B, bool> isunordered(A a, B b) {
  return a != a || b != b;
}

}  // extern "C++"
