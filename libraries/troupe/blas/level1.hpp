// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/blas/elements.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/scalar.hpp>

/// Operations on vectors. Element i of a vector of n lies at i * inc, or at (n - 1 - i) * -inc when its increment is
/// negative: such a vector is the same memory, walked backwards. What answers a number also writes it to `result`,
/// where that is given.
namespace troupe::blas {

namespace detail {
/// Checks a request of this header, by the fields that it has.
template <class R>
void check_vectors(const R& r, checker& check);
}  // namespace detail

/// y = alpha * x + y. With alpha == 0, y stays as it is, whatever x holds.   cublasSaxpy / cblas_saxpy
template <class T>
struct axpy {
  static_assert(is_full<T>, "blas::axpy has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> y;
  extent n;
  scalar<T> alpha = 1;
  extent incx = 1, incy = 1;
  using reply = void;
  TROUPE_REQUEST("blas.axpy", x, y, n, alpha, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// y = alpha * x + beta * y. With beta == 0, y is not read; with alpha == 0, x does not count.
///   cublasSgeam of neighbours, else cublasSaxpy after a kernel of our own / cblas_saxpby
template <class T>
struct axpby {
  static_assert(is_full<T>, "blas::axpby has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> y;
  extent n;
  scalar<T> alpha = 1, beta = 1;
  extent incx = 1, incy = 1;
  using reply = void;
  TROUPE_REQUEST("blas.axpby", x, y, n, alpha, beta, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// x = alpha * x, in place. A complex x may have a real factor: scal<complex64, float>.
/// Always the product: alpha == 0 leaves NaN where x was NaN or infinite. To clear memory, fill it. A negative
/// increment touches the same elements as a positive one (BLAS itself would do nothing).   cublasSscal, cublasCsscal /
/// cblas_sscal
template <class T, class F = T>
struct scal {
  static_assert(is_full<T> && (std::is_same_v<F, T> || std::is_same_v<F, real_of<T>>),
                "blas::scal has float, double, troupe::complex64 and troupe::complex128; the factor is of the same "
                "type, or real");
  inout<T> x;
  extent n;
  scalar<F> alpha = 1;
  extent incx = 1;
  using reply = void;
  TROUPE_REQUEST("blas.scal", x, n, alpha, incx)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// y = x.   cublasScopy / cblas_scopy
template <class T>
struct copy {
  static_assert(is_full<T>, "blas::copy has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  out<T> y;
  extent n;
  extent incx = 1, incy = 1;
  using reply = void;
  TROUPE_REQUEST("blas.copy", x, y, n, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// x and y change places.   cublasSswap / cblas_sswap
template <class T>
struct swap {
  static_assert(is_full<T>, "blas::swap has float, double, troupe::complex64 and troupe::complex128");
  inout<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  using reply = void;
  TROUPE_REQUEST("blas.swap", x, y, n, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

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

/// Returns the root of the sum of |x[i]|^2, without overflow or underflow on the way.   cublasSnrm2 / cblas_snrm2
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

/// Returns the sum of |x[i]|, where |z| is |real| + |imag| of a complex number.   cublasSasum / cblas_sasum
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

/// Returns the index, from 0, of the first largest |x[i]|, with asum's |z|. NaN is passed over; where all are NaN, the
/// answer is 0.   cublasIsamax (which counts from 1) / cblas_isamax
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

/// The same for the smallest.   cublasIsamin / cblas_isamin
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

using all_level1 = joined_requests<requests_for<full_types, axpy, axpby, scal, copy, swap, nrm2, asum, iamax, iamin>,
                                   request_list<scal<complex64, float>, scal<complex128, double>>,
                                   requests_for<real_types, dot>, requests_for<complex_types, dotu, dotc>>;

}  // namespace troupe::blas
