// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's complex numbers: pairs of float or double, and functions on them.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_
#pragma GCC system_header

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

namespace troupe_cuda {

// Scales the divisor by its larger part, so that its square neither overflows nor underflows.
template <class Complex, class T>
TROUPE_INLINE Complex divide(Complex x, Complex y, T scale) {
  const T a = x.x / scale, b = x.y / scale, c = y.x / scale, d = y.y / scale;
  const T square = c * c + d * d;
  return {(a * c + b * d) / square, (b * c - a * d) / square};
}

}  // namespace troupe_cuda

#define TROUPE_COMPLEX(Complex, T, suffix)                                                      \
  TROUPE_INLINE T cuCreal##suffix(Complex x) { return x.x; }                                    \
  TROUPE_INLINE T cuCimag##suffix(Complex x) { return x.y; }                                    \
  TROUPE_INLINE Complex make_##Complex(T real, T imaginary) { return {real, imaginary}; }       \
  TROUPE_INLINE Complex cuConj##suffix(Complex x) { return {x.x, -x.y}; }                       \
  TROUPE_INLINE Complex cuCadd##suffix(Complex x, Complex y) { return {x.x + y.x, x.y + y.y}; } \
  TROUPE_INLINE Complex cuCsub##suffix(Complex x, Complex y) { return {x.x - y.x, x.y - y.y}; } \
  TROUPE_INLINE Complex cuCmul##suffix(Complex x, Complex y) {                                  \
    return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                                      \
  }                                                                                             \
  TROUPE_INLINE Complex cuCdiv##suffix(Complex x, Complex y) {                                  \
    return ::troupe_cuda::divide(x, y, static_cast<T>(fabs(y.x) + fabs(y.y)));                  \
  }                                                                                             \
  TROUPE_INLINE T cuCabs##suffix(Complex x) { return hypot(x.x, x.y); }                         \
  TROUPE_INLINE Complex cuCfma##suffix(Complex x, Complex y, Complex d) {                       \
    return cuCadd##suffix(cuCmul##suffix(x, y), d);                                             \
  }

TROUPE_COMPLEX(cuFloatComplex, float, f)
TROUPE_COMPLEX(cuDoubleComplex, double, )
#undef TROUPE_COMPLEX

TROUPE_INLINE cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
TROUPE_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
TROUPE_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return {static_cast<float>(x.x), static_cast<float>(x.y)};
}

#endif
