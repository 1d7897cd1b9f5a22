// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/blas/elements.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Plane rotations: `rotg` and `rotmg` compute one, `rot` and `rotm` apply one to vectors.
namespace troupe::blas {

/// A Givens rotation: [c s; -conj(s) c] * [a; b] = [r; 0]. `z` encodes c and s in one number, as in BLAS; it is 0 for
/// complex elements, for which BLAS defines no such code.
template <class T>
struct rotation {
  T r, z;
  real_of<T> c;
  T s;
};

/// Returns the rotation that makes b zero, and writes its parts to the operands that are given; `r` and `z` may be the
/// memory of `a` and `b`, as in BLAS.   cublasSrotg / cblas_srotg
template <class T>
struct rotg {
  static_assert(is_full<T>, "blas::rotg has float, double, troupe::complex64 and troupe::complex128");
  scalar<T> a, b;
  std::optional<out<T>> r = {}, z = {};
  std::optional<out<real_of<T>>> c = {};
  std::optional<out<T>> s = {};
  using reply = rotation<T>;
  TROUPE_REQUEST("blas.rotg", a, b, r, z, c, s)
  void check(checker&) const;
};

/// x[i] = c * x[i] + s * y[i], and y[i] = c * y[i] - conj(s) * x[i] with the old x[i]. `s` is of the elements' type, or
/// real: rot<complex64, float>.   cublasSrot, cublasCrot, cublasCsrot / cblas_srot
template <class T, class S = T>
struct rot {
  static_assert(
      is_full<T> && (std::is_same_v<S, T> || std::is_same_v<S, real_of<T>>),
      "blas::rot has float, double, troupe::complex64 and troupe::complex128; s is of the same type, or real");
  inout<T> x, y;
  extent n;
  scalar<real_of<T>> c;
  scalar<S> s;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.rot", x, y, n, c, s, incx, incy)
  void check(checker&) const;
};

/// A modified Givens rotation, H = [h11 h12; h21 h22], stored as BLAS's `param`: five numbers. `flag` says which
/// elements of H are stored: -1: all; 0: the diagonal is 1 and not stored; 1: h12 is 1, h21 is -1, and both are not
/// stored; -2: none, H is the identity.
template <class T>
struct modified_rotation {
  T flag, h11, h21, h12, h22;
};

template <class T>
struct rotmg_reply {
  T d1, d2, x1;
  modified_rotation<T> param;
};

/// Returns the modified rotation H that makes the second component of (sqrt(d1) * x1, sqrt(d2) * y1) zero, with the new
/// d1, d2 and x1. Writes them to the operands that are given, which may be the memory of d1, d2 and x1. Elements of H
/// that its flag implies are 0.   cublasSrotmg / cblas_srotmg
template <class T>
struct rotmg {
  static_assert(is_real<T>, "blas::rotmg has float and double");
  scalar<T> d1, d2, x1, y1;
  std::optional<out<T>> new_d1 = {}, new_d2 = {}, new_x1 = {};
  std::optional<out<modified_rotation<T>>> param = {};
  using reply = rotmg_reply<T>;
  TROUPE_REQUEST("blas.rotmg", d1, d2, x1, y1, new_d1, new_d2, new_x1, param)
  void check(checker&) const;
};

/// (x[i], y[i]) = H * (x[i], y[i]). `param` may be in memory: the result of rotmg, or `.as<modified_rotation<T>>()` of
/// five numbers. A flag given by value must be one of the four; in memory, any other flag counts as -1 or 1, by its
/// sign.   cublasSrotm / cblas_srotm
template <class T>
struct rotm {
  static_assert(is_real<T>, "blas::rotm has float and double");
  inout<T> x, y;
  extent n;
  scalar<modified_rotation<T>> param;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.rotm", x, y, n, param, incx, incy)
  void check(checker&) const;
};

using all_rotations =
    joined_requests<requests_for<full_types, rotg, rot>, request_list<rot<complex64, float>, rot<complex128, double>>,
                    requests_for<real_types, rotmg, rotm>>;

}  // namespace troupe::blas
