// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/level1/reductions.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Operations on vectors: this header has those that change vectors, <troupe/blas/level1/reductions.hpp> those that
/// reduce them to a number. Element i of a vector of n elements is at i * inc, or at (n - 1 - i) * -inc if its
/// increment is negative: such a vector is the same memory in reverse order.
namespace troupe::blas {

/// y = alpha * x + y. If alpha == 0, y does not change, whatever x holds.   cublasSaxpy / cblas_saxpy
template <class T>
struct axpy {
  static_assert(is_full<T>, "blas::axpy has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> y;
  extent n;
  scalar<T> alpha = 1;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.axpy", x, y, n, alpha, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// y = alpha * x + beta * y. If beta == 0, y is not read; if alpha == 0, the content of x has no effect.
///   cublasSgeam if the elements are adjacent, otherwise a kernel of our own and cublasSaxpy / cblas_saxpby
template <class T>
struct axpby {
  static_assert(is_full<T>, "blas::axpby has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> y;
  extent n;
  scalar<T> alpha = 1, beta = 1;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.axpby", x, y, n, alpha, beta, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// x = alpha * x, in place. A complex x may have a real factor: scal<complex64, float>. Always multiplies: alpha == 0
/// leaves NaN where x is NaN or infinite; to clear memory, fill it. A negative increment touches the same elements as a
/// positive one (BLAS itself does nothing).   cublasSscal, cublasCsscal / cblas_sscal
template <class T, class F = T>
struct scal {
  static_assert(is_full<T> && (std::is_same_v<F, T> || std::is_same_v<F, real_of<T>>),
                "blas::scal has float, double, troupe::complex64 and troupe::complex128; the factor is of the same "
                "type, or real");
  inout<T> x;
  extent n;
  scalar<F> alpha = 1;
  extent incx = 1;
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
  TROUPE_REQUEST("blas.copy", x, y, n, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Swaps x and y.   cublasSswap / cblas_sswap
template <class T>
struct swap {
  static_assert(is_full<T>, "blas::swap has float, double, troupe::complex64 and troupe::complex128");
  inout<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.swap", x, y, n, incx, incy)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

using all_level1 = joined_requests<requests_for<full_types, axpy, axpby, scal, copy, swap, nrm2, asum, iamax, iamin>,
                                   request_list<scal<complex64, float>, scal<complex128, double>>,
                                   requests_for<real_types, dot>, requests_for<complex_types, dotu, dotc>>;

}  // namespace troupe::blas
