// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.cuh"

/// Computes rotations from values in memory, in one thread.
namespace troupe::blas::on_gpu {

// Returns the exponent of the largest of some numbers, or 0 if one is infinite or NaN.
inline __device__ int exponent_of(double a, double b, double c = 0, double d = 0) {
  if (!isfinite(a) || !isfinite(b) || !isfinite(c) || !isfinite(d)) return 0;
  const double largest = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
  return largest == 0 ? 0 : ilogb(largest);
}
template <class T>
struct rotation_reply {  // the layout of blas::rotation
  T r, z;
  real_of<T> c;
  T s;
};
template <class T>
__device__ rotation_reply<T> rotation_of(T a, T b) {
  if (b == 0) return {a, 0, 1, 0};
  if (a == 0) return {b, 1, 0, 1};
  const int exponent = exponent_of(a, b);
  const double x = scalbn(double(a), -exponent), y = scalbn(double(b), -exponent);
  const bool first = fabs(x) > fabs(y);
  const double length = copysign(sqrt(x * x + y * y), first ? x : y);
  rotation_reply<T> out{static_cast<T>(scalbn(length, exponent)), 0, static_cast<T>(x / length),
                        static_cast<T>(y / length)};
  out.z = first ? out.s : out.c == 0 ? T(1) : 1 / out.c;
  return out;
}
template <class R>
__device__ rotation_reply<complex_of<R>> rotation_of(complex_of<R> a, complex_of<R> b) {
  if (a.real == 0 && a.imag == 0) return {b, {0, 0}, 0, {1, 0}};
  const int exponent = exponent_of(a.real, a.imag, b.real, b.imag), alone = exponent_of(a.real, a.imag);
  const auto moved = [](complex_of<R> v, int by) {
    return c128{scalbn(double(v.real), by), scalbn(double(v.imag), by)};
  };
  const c128 x = moved(a, -exponent), y = moved(b, -exponent), own = moved(a, -alone);
  const double own_length = hypot(own.real, own.imag), size = hypot(x.real, x.imag),
               length = hypot(size, hypot(y.real, y.imag));
  const c128 direction{own.real / own_length, own.imag / own_length}, s = times(direction, conjugate(y));
  const auto narrow = [](double re, double im) { return complex_of<R>{static_cast<R>(re), static_cast<R>(im)}; };
  return {narrow(scalbn(direction.real * length, exponent), scalbn(direction.imag * length, exponent)),
          {0, 0},
          static_cast<R>(size / length),
          narrow(s.real / length, s.imag / length)};
}
template <class T>
__device__ void rotate_to_zero(const rotation& r) {
  const rotation_reply<T> out = rotation_of(load<T>(r.a), load<T>(r.b));
  store(r.r, out.r);
  store(r.z, out.z);
  store(r.c, out.c);
  store(r.s, out.s);
  *static_cast<rotation_reply<T>*>(r.reply) = out;
}

// Computes a modified rotation by the formulas of Lawson et al. (1979), in double.
struct modified {
  double d1, d2, x1, flag, h11, h21, h12, h22;
};
inline __device__ modified modified_of(double d1, double d2, double x1, double y1, double least) {
  const modified nothing{0, 0, 0, -1, 0, 0, 0, 0};
  const double p1 = d1 * x1, p2 = d2 * y1, q1 = p1 * x1, q2 = p2 * y1;
  if (p2 == 0) return {d1, d2, x1, -2, 0, 0, 0, 0};
  if (d1 < 0) return nothing;
  modified out;
  if (fabs(q1) > fabs(q2)) {
    const double h21 = -y1 / x1, h12 = p2 / p1, u = 1 - h12 * h21;
    if (!(u > 0)) return nothing;
    out = {d1 / u, d2 / u, x1 * u, 0, 1, h21, h12, 1};
  } else if (q2 < 0) {
    return nothing;
  } else {
    const double h11 = p1 / p2, h22 = x1 / y1, u = 1 + h11 * h22;
    if (p1 == 0) return {d2, d1, y1, 1, 0, 0, 0, 0};  // the rotation swaps the components
    out = {d2 / u, d1 / u, y1 * u, 1, h11, -1, 1, h22};
  }
  // d1 and d2 are kept near 1 by powers of 4096. If they were scaled, all four elements of H are stored.
  constexpr double gamma = 4096, square = gamma * gamma;
  const auto out_of_range = [&](double d) { return d != 0 && isfinite(d) && (fabs(d) <= least || fabs(d) >= square); };
  while (out_of_range(out.d1)) {
    const double by = fabs(out.d1) >= square ? 1 / gamma : gamma;
    out.d1 *= by * by, out.x1 /= by, out.h11 /= by, out.h12 /= by, out.flag = -1;
  }
  while (out_of_range(out.d2)) {
    const double by = fabs(out.d2) >= square ? 1 / gamma : gamma;
    out.d2 *= by * by, out.h21 /= by, out.h22 /= by, out.flag = -1;
  }
  if (out.flag == 0) out.h11 = out.h22 = 0;
  if (out.flag == 1) out.h21 = out.h12 = 0;
  return out;
}
template <class T>
struct modified_parameters {  // the layout of blas::modified_rotation
  T flag, h11, h21, h12, h22;
};
template <class T>
struct modified_reply {  // the layout of blas::rotmg_reply
  T d1, d2, x1;
  modified_parameters<T> param;
};
template <class T>
__device__ void modified_rotate_to_zero(const modified_rotation& r) {
  const modified m = modified_of(load<T>(r.d1), load<T>(r.d2), load<T>(r.x1), load<T>(r.y1), T(5.9604645e-8));
  const auto narrow = [](double v) { return static_cast<T>(v); };
  const modified_reply<T> out{narrow(m.d1),
                              narrow(m.d2),
                              narrow(m.x1),
                              {narrow(m.flag), narrow(m.h11), narrow(m.h21), narrow(m.h12), narrow(m.h22)}};
  store(r.new_d1, out.d1);
  store(r.new_d2, out.d2);
  store(r.new_x1, out.x1);
  store(r.param, out.param);
  *static_cast<modified_reply<T>*>(r.reply) = out;
}
template <class T>
__device__ void check_flag(const flag& f) {
  modified_parameters<T> p = *static_cast<const modified_parameters<T>*>(f.from);
  if (p.flag != -2 && p.flag != 0) p.flag = p.flag < 0 ? T(-1) : T(1);
  *static_cast<modified_parameters<T>*>(f.to) = p;
}

}  // namespace troupe::blas::on_gpu
