// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's mathematical functions that the C library lacks, and min and max.
#pragma once
#pragma GCC system_header

#define TROUPE_MIN_MAX(type)                                                 \
  TROUPE_INLINE constexpr type min(type a, type b) { return b < a ? b : a; } \
  TROUPE_INLINE constexpr type max(type a, type b) { return a < b ? b : a; }
TROUPE_MIN_MAX(int)
TROUPE_MIN_MAX(unsigned)
TROUPE_MIN_MAX(long)
TROUPE_MIN_MAX(unsigned long)
TROUPE_MIN_MAX(long long)
TROUPE_MIN_MAX(unsigned long long)
#undef TROUPE_MIN_MAX
// As in C, return the number if the other argument is a NaN.
TROUPE_INLINE float min(float a, float b) { return __builtin_fminf(a, b); }
TROUPE_INLINE float max(float a, float b) { return __builtin_fmaxf(a, b); }
TROUPE_INLINE double min(double a, double b) { return __builtin_fmin(a, b); }
TROUPE_INLINE double max(double a, double b) { return __builtin_fmax(a, b); }
TROUPE_INLINE double min(float a, double b) { return __builtin_fmin(a, b); }
TROUPE_INLINE double min(double a, float b) { return __builtin_fmin(a, b); }
TROUPE_INLINE double max(float a, double b) { return __builtin_fmax(a, b); }
TROUPE_INLINE double max(double a, float b) { return __builtin_fmax(a, b); }
#define TROUPE_MIXED(small, large)                                                              \
  TROUPE_INLINE constexpr large min(small a, large b) { return min(static_cast<large>(a), b); } \
  TROUPE_INLINE constexpr large min(large a, small b) { return min(a, static_cast<large>(b)); } \
  TROUPE_INLINE constexpr large max(small a, large b) { return max(static_cast<large>(a), b); } \
  TROUPE_INLINE constexpr large max(large a, small b) { return max(a, static_cast<large>(b)); }
TROUPE_MIXED(int, unsigned)
TROUPE_MIXED(int, unsigned long)
TROUPE_MIXED(unsigned, unsigned long)
TROUPE_MIXED(long, unsigned long)
TROUPE_MIXED(long long, unsigned long long)
TROUPE_MIXED(int, long long)
TROUPE_MIXED(int, long)
#undef TROUPE_MIXED

TROUPE_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
TROUPE_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
TROUPE_INLINE long long llmin(long long a, long long b) { return min(a, b); }
TROUPE_INLINE long long llmax(long long a, long long b) { return max(a, b); }
TROUPE_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
TROUPE_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

TROUPE_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
TROUPE_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
TROUPE_INLINE float rsqrt(float x) { return rsqrtf(x); }
TROUPE_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
TROUPE_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
TROUPE_INLINE float fdividef(float x, float y) { return x / y; }

namespace troupe_cuda {

// Returns the sine of pi times x. x is reduced exactly, so multiples of one half yield exact results.
template <class T>
inline T sine_of_pi(T x) {
  const T reduced = x - T(2) * rint(x / T(2));  // -1 ... 1, exact
  const T a = fabs(reduced);
  if (a == T(1) || a == T(0)) return copysign(T(0), x);
  const T pi = T(3.14159265358979323846264338327950288L);
  const T value = a <= T(0.25) ? sin(pi * a) : a <= T(0.75) ? cos(pi * (T(0.5) - a)) : sin(pi * (T(1) - a));
  return reduced < 0 ? -value : value;
}
template <class T>
inline T cosine_of_pi(T x) {
  const T a = fabs(x - T(2) * rint(x / T(2)));
  const T pi = T(3.14159265358979323846264338327950288L);
  if (a == T(0.5)) return T(0);
  return a <= T(0.25) ? cos(pi * a) : a <= T(0.75) ? sin(pi * (T(0.5) - a)) : -cos(pi * (T(1) - a));
}
// Returns the inverse of erf between -1/2 and 1/2, by Halley's method. The relative error of erf is small even near 0.
inline double inverse_erf(double x) {
  double y = 0.88622692545275801365 * x;
  for (int i = 0; i < 8; ++i) {
    const double step = (erf(y) - x) / (1.1283791670955125739 * exp(-y * y));
    y -= step / (1 + y * step);
    if (fabs(step) <= 1e-16 * fabs(y)) break;
  }
  return y;
}
// Returns the inverse of the normal distribution function: begins with the asymptotic expansion of erfc and refines by
// Halley's method in double; as accurate as erfc.
inline double inverse_normal(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : NAN;
  if (p >= 0.25 && p <= 0.75) return 1.4142135623730950488 * inverse_erf(2 * (p - 0.5));  // p - 0.5 is exact
  const bool low = p < 0.5;
  const double tail = low ? p : 1 - p;
  double x = sqrt(-2 * log(tail));
  x = x > 1.2 ? x - log(x * 2.5066282746310002) / x : 2.5066282746310002 * (0.5 - tail);
  for (int i = 0; i < 12; ++i) {
    const double error = 0.5 * erfc(x * 0.70710678118654752440) - tail;
    const double slope = -0.39894228040143267794 * exp(-0.5 * x * x);
    const double step = error / slope;
    x -= step / (1 + 0.5 * x * step);  // a step of Halley's method
    if (fabs(step) < 1e-16 * fabs(x)) break;
  }
  return low ? -x : x;
}

}  // namespace troupe_cuda

TROUPE_INLINE float sinpif(float x) { return ::troupe_cuda::sine_of_pi(x); }
TROUPE_INLINE double sinpi(double x) { return ::troupe_cuda::sine_of_pi(x); }
TROUPE_INLINE float sinpi(float x) { return sinpif(x); }
TROUPE_INLINE float cospif(float x) { return ::troupe_cuda::cosine_of_pi(x); }
TROUPE_INLINE double cospi(double x) { return ::troupe_cuda::cosine_of_pi(x); }
TROUPE_INLINE float cospi(float x) { return cospif(x); }
TROUPE_INLINE void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
TROUPE_INLINE void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
TROUPE_INLINE void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
TROUPE_INLINE void sincos(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}
#if !defined(_GNU_SOURCE)
TROUPE_INLINE void sincosf(float x, float* s, float* c) { sincos(x, s, c); }
TROUPE_INLINE void sincos(double x, double* s, double* c) {
  *s = sin(x);
  *c = cos(x);
}
TROUPE_INLINE float exp10f(float x) { return static_cast<float>(::pow(10.0, static_cast<double>(x))); }
TROUPE_INLINE double exp10(double x) { return ::pow(10.0, x); }
#endif
TROUPE_INLINE float exp10(float x) { return exp10f(x); }
TROUPE_INLINE float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678118654752440f); }
TROUPE_INLINE double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
TROUPE_INLINE float normcdf(float x) { return normcdff(x); }
TROUPE_INLINE double normcdfinv(double p) { return ::troupe_cuda::inverse_normal(p); }
TROUPE_INLINE float normcdfinvf(float p) { return static_cast<float>(normcdfinv(static_cast<double>(p))); }
TROUPE_INLINE float normcdfinv(float p) { return normcdfinvf(p); }
TROUPE_INLINE double erfcinv(double x) { return -normcdfinv(0.5 * x) * 0.70710678118654752440; }
TROUPE_INLINE float erfcinvf(float x) { return static_cast<float>(erfcinv(static_cast<double>(x))); }
TROUPE_INLINE float erfcinv(float x) { return erfcinvf(x); }
TROUPE_INLINE double erfinv(double x) {
  if (fabs(x) <= 0.5) return ::troupe_cuda::inverse_erf(x);
  return copysign(erfcinv(1 - fabs(x)), x);  // the difference is exact
}
TROUPE_INLINE float erfinvf(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
TROUPE_INLINE float erfinv(float x) { return erfinvf(x); }
TROUPE_INLINE double erfcx(double x) {
  if (!(x >= 25)) {
    const double square = x * x;
    const double rest = square < HUGE_VAL ? fma(x, x, -square) : 0;  // the rounding error of the square
    const double e = exp(square);
    return e < HUGE_VAL ? (e + e * rest) * erfc(x) : e * erfc(x);
  }
  const double r = 1 / (x * x);
  return 0.56418958354775628695 / x *
         (1 - r * (0.5 - r * (0.75 - r * (1.875 - r * (6.5625 - r * (29.53125 - r * 162.421875))))));
}
TROUPE_INLINE float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
TROUPE_INLINE float erfcx(float x) { return erfcxf(x); }
TROUPE_INLINE float rcbrt(float x) { return rcbrtf(x); }
TROUPE_INLINE float j0(float x) { return j0f(x); }
TROUPE_INLINE float j1(float x) { return j1f(x); }
TROUPE_INLINE float jn(int n, float x) { return jnf(n, x); }
TROUPE_INLINE float y0(float x) { return y0f(x); }
TROUPE_INLINE float y1(float x) { return y1f(x); }
TROUPE_INLINE float yn(int n, float x) { return ynf(n, x); }
TROUPE_INLINE float norm3df(float a, float b, float c) {
  return static_cast<float>(sqrt(double(a) * a + double(b) * b + double(c) * c));
}
TROUPE_INLINE double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
TROUPE_INLINE float rnorm3df(float a, float b, float c) { return 1 / norm3df(a, b, c); }
TROUPE_INLINE double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
TROUPE_INLINE float norm4df(float a, float b, float c, float d) {
  return static_cast<float>(sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
TROUPE_INLINE double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
TROUPE_INLINE float rnorm4df(float a, float b, float c, float d) { return 1 / norm4df(a, b, c, d); }
TROUPE_INLINE double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
TROUPE_INLINE float rhypotf(float a, float b) { return 1 / hypotf(a, b); }
TROUPE_INLINE double rhypot(double a, double b) { return 1 / hypot(a, b); }
