// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <troupe/blas/rotations.hpp>

#include "engine.hpp"

namespace troupe::blas {

template <class T>
static void write(const std::optional<out<T>>& place, T value) noexcept {
  if (place) *place->data() = value;
}

// From the definition: OpenBLAS's (0.3.26) gives an r that its c and s do not.
template <class T>
static rotation<T> complex_rotation(const T& a, const T& b) {
  using wide = std::complex<double>;
  const wide x(a.real, a.imag), y(b.real, b.imag);
  const double length = std::hypot(std::abs(x), std::abs(y));
  rotation<T> out{};
  const auto set = [](T& to, wide from) {
    to = T(static_cast<decltype(to.real)>(from.real()), static_cast<decltype(to.real)>(from.imag()));
  };
  if (std::abs(x) == 0) {
    out.c = 0, out.s = T(1), out.r = b;
    return out;
  }
  const wide direction = x / std::abs(x);
  out.c = static_cast<decltype(out.c)>(std::abs(x) / length);
  set(out.s, direction * std::conj(y) / length);
  set(out.r, direction * length);
  return out;
}

template <class T>
static result<rotation<T>> compute(const rotg<T>& r) {
  T a = r.a.load(), b = r.b.load();
  rotation<T> out{};
  if constexpr (is_real<T>) {
    routines<T>::rotg(&a, &b, &out.c, &out.s);
    out.r = a;
  } else {
    out = complex_rotation(a, b);
  }
  if constexpr (is_real<T>) out.z = b;
  write(r.r, out.r);
  write(r.z, out.z);
  write(r.c, out.c);
  write(r.s, out.s);
  return out;
}

template <class T, class S>
static result<void> compute(const rot<T, S>& r) {
  const real_of<T> c = r.c.load();
  const S s = r.s.load();
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           T *const first_x = r.x.data() + x, *const first_y = r.y.data() + y;
           if constexpr (is_real<T>)
             routines<T>::rot(n, first_x, incx, first_y, incy, c, s);
           else if constexpr (is_real<S>)
             routines<T>::real_rot(n, first_x, incx, first_y, incy, c, s);
           else
             routines<T>::rot(&n, first_x, &incx, first_y, &incy, &c, &s);
         });
  return {};
}

template <class T>
static result<rotmg_reply<T>> compute(const rotmg<T>& r) {
  rotmg_reply<T> out{r.d1.load(), r.d2.load(), r.x1.load(), {}};
  routines<T>::rotmg(&out.d1, &out.d2, &out.x1, r.y1.load(), &out.param.flag);
  write(r.new_d1, out.d1);
  write(r.new_d2, out.d2);
  write(r.new_x1, out.x1);
  write(r.param, out.param);
  return out;
}

template <class T>
static result<void> compute(const rotm<T>& r) {
  const modified_rotation<T> h = r.param.load();
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           routines<T>::rotm(n, r.x.data() + x, incx, r.y.data() + y, incy, &h.flag);
         });
  return {};
}

operations rotation_operations() noexcept {
  return operations_of<openblas, rotg<float>, rotg<double>, rotg<complex64>, rotg<complex128>, rot<float>, rot<double>,
                       rot<complex64>, rot<complex128>, rot<complex64, float>, rot<complex128, double>, rotmg<float>,
                       rotmg<double>, rotm<float>, rotm<double>>();
}

}  // namespace troupe::blas
