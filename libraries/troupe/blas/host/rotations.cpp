// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/level1/rotations.hpp>

namespace troupe::blas {

template <class T>
static void write(const std::optional<out<T>>& place, T value) noexcept {
  if (place) *place->data() = value;
}

// Returns the exponent of the largest of some numbers. Numbers that are divided by that power of two can be squared
// without overflow; squares that underflow are negligible. Returns 0 if any number is infinite or NaN, so that none is
// scaled.
static int exponent_of(std::initializer_list<double> numbers) noexcept {
  double largest = 0;
  for (const double v : numbers) {
    if (!std::isfinite(v)) return 0;
    largest = std::max(largest, std::abs(v));
  }
  return largest == 0 ? 0 : std::ilogb(largest);
}
static std::complex<double> scaled(std::complex<double> v, int exponent) noexcept {
  return {std::scalbn(v.real(), exponent), std::scalbn(v.imag(), exponent)};
}

// Computes by the definition: OpenBLAS (0.3.21) squares doubles without scaling, which can overflow or underflow.
template <class T>
static rotation<T> real_rotation(T a, T b) {
  if (b == 0) return {.r = a, .z = 0, .c = 1, .s = 0};
  if (a == 0) return {.r = b, .z = 1, .c = 0, .s = 1};
  const int exponent = exponent_of({a, b});
  const double x = std::scalbn(double{a}, -exponent), y = std::scalbn(double{b}, -exponent);
  const bool first = std::abs(x) > std::abs(y);
  const double length = std::copysign(std::sqrt(x * x + y * y), first ? x : y);
  rotation<T> out{.r = static_cast<T>(std::scalbn(length, exponent)),
                  .z = {},
                  .c = static_cast<T>(x / length),
                  .s = static_cast<T>(y / length)};
  out.z = first ? out.s : out.c == 0 ? T(1) : 1 / out.c;
  return out;
}

// Computes by the definition: OpenBLAS (0.3.26) returns an r that does not match its c and s.
template <class T>
static rotation<T> complex_rotation(const T& a, const T& b) {
  using wide = std::complex<double>;
  using real = real_of<T>;
  if (a == T(0)) return {.r = b, .z = {}, .c = 0, .s = T(1)};
  const int exponent = exponent_of({a.real, a.imag, b.real, b.imag});
  const wide x = scaled({a.real, a.imag}, -exponent), y = scaled({b.real, b.imag}, -exponent);
  // x is scaled alone too: scaled together with a much larger b, it may become 0.
  const wide alone = scaled({a.real, a.imag}, -exponent_of({a.real, a.imag})), direction = alone / std::abs(alone);
  const double length = std::hypot(std::abs(x), std::abs(y));
  const auto narrowed = [](wide v) { return T(static_cast<real>(v.real()), static_cast<real>(v.imag())); };
  return {.r = narrowed(scaled(direction * length, exponent)),
          .z = {},
          .c = static_cast<real>(std::abs(x) / length),
          .s = narrowed(direction * std::conj(y) / length)};
}

template <class T>
static result<rotation<T>> compute(const rotg<T>& r) {
  const T a = r.a.load(), b = r.b.load();
  rotation<T> out;
  if constexpr (is_real<T>)
    out = real_rotation(a, b);
  else
    out = complex_rotation(a, b);
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
             TROUPE_CBLAS_REAL(rot)(n, first_x, incx, first_y, incy, c, s);
           else if constexpr (is_real<S>)
             of_type<T>(nullptr, nullptr, cblas_csrot, cblas_zdrot)(n, first_x, incx, first_y, incy, c, s);
           else
             TROUPE_FORTRAN_COMPLEX(rot)(&n, first_x, &incx, first_y, &incy, &c, &s);
         });
  return {};
}

template <class T>
static result<rotmg_reply<T>> compute(const rotmg<T>& r) {
  rotmg_reply<T> out{r.d1.load(), r.d2.load(), r.x1.load(), {}};
  TROUPE_CBLAS_REAL(rotmg)(&out.d1, &out.d2, &out.x1, r.y1.load(), &out.param.flag);
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
           TROUPE_CBLAS_REAL(rotm)(n, r.x.data() + x, incx, r.y.data() + y, incy, &h.flag);
         });
  return {};
}

operations rotation_operations() noexcept { return operations_of<openblas, all_rotations>(); }

}  // namespace troupe::blas
