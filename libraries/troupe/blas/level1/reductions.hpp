// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/request/request.hpp>

/// Operations that reduce vectors to one number. The number is the reply; it is also written to `result`, if that is
/// given. Vectors are stored as <troupe/blas/level1/level1.hpp> says.
namespace troupe::blas {

/// Returns the sum of x[i] * y[i]. x and y may be the same memory.   cublasSdot / cblas_sdot
template <class T>
struct dot {
  static_assert(is_real<T>, "blas::dot has float and double; for complex elements there are dotu and dotc");
  in<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  std::optional<out<T>> result = {};
  using reply = T;
  TROUPE_REQUEST("blas.dot", x, y, n, incx, incy, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the sum of x[i] * y[i].   cublasCdotu / cblas_cdotu_sub
template <class T>
struct dotu {
  static_assert(is_complex<T>,
                "blas::dotu has troupe::complex64 and troupe::complex128; for real elements there is dot");
  in<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  std::optional<out<T>> result = {};
  using reply = T;
  TROUPE_REQUEST("blas.dotu", x, y, n, incx, incy, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the sum of conj(x[i]) * y[i].   cublasCdotc / cblas_cdotc_sub
template <class T>
struct dotc {
  static_assert(is_complex<T>,
                "blas::dotc has troupe::complex64 and troupe::complex128; for real elements there is dot");
  in<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  std::optional<out<T>> result = {};
  using reply = T;
  TROUPE_REQUEST("blas.dotc", x, y, n, incx, incy, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the root of the sum of |x[i]|^2, without intermediate overflow or underflow.   cublasSnrm2 / cblas_snrm2
template <class T>
struct nrm2 {
  static_assert(is_full<T>, "blas::nrm2 has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  extent n;
  extent incx = 1;
  std::optional<out<real_of<T>>> result = {};
  using reply = real_of<T>;
  TROUPE_REQUEST("blas.nrm2", x, n, incx, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the sum of |x[i]|, where |z| of a complex number is |real| + |imag|.   cublasSasum / cblas_sasum
template <class T>
struct asum {
  static_assert(is_full<T>, "blas::asum has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  extent n;
  extent incx = 1;
  std::optional<out<real_of<T>>> result = {};
  using reply = real_of<T>;
  TROUPE_REQUEST("blas.asum", x, n, incx, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the index, from 0, of the first largest |x[i]|, with |z| as in asum. NaN is ignored; if all elements are
/// NaN, the index is 0.   cublasIsamax (which counts from 1) / cblas_isamax
template <class T>
struct iamax {
  static_assert(is_full<T>, "blas::iamax has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  extent n;
  extent incx = 1;
  std::optional<out<std::int64_t>> result = {};
  using reply = std::int64_t;
  TROUPE_REQUEST("blas.iamax", x, n, incx, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the index of the first smallest |x[i]|, under the same rules.   cublasIsamin / cblas_isamin
template <class T>
struct iamin {
  static_assert(is_full<T>, "blas::iamin has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  extent n;
  extent incx = 1;
  std::optional<out<std::int64_t>> result = {};
  using reply = std::int64_t;
  TROUPE_REQUEST("blas.iamin", x, n, incx, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

}  // namespace troupe::blas
