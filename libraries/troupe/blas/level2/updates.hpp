// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/level2/packed_updates.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Updates of a matrix by vectors: A = alpha * x * y' + A and its variants. If alpha == 0, the contents of x and y have
/// no effect. Of symmetric and Hermitian matrices only the triangle that `uplo` names is touched; the imaginary parts
/// of a Hermitian diagonal count as 0 and become 0. Updates of packed matrices are in
/// <troupe/blas/level2/packed_updates.hpp>.
namespace troupe::blas {

/// A = alpha * x * transpose(y) + A, where A is m by n.   cublasSger / cblas_sger
template <class T>
struct ger {
  static_assert(is_real<T>, "blas::ger has float and double");
  in<T> x, y;
  inout<T> a;
  extent m, n;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.ger", x, y, a, m, n, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * transpose(y) + A, where A is m by n.   cublasCgeru / cblas_cgeru
template <class T>
struct geru {
  static_assert(is_complex<T>, "blas::geru has troupe::complex64 and troupe::complex128");
  in<T> x, y;
  inout<T> a;
  extent m, n;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.geru", x, y, a, m, n, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * conj(transpose(y)) + A, where A is m by n.   cublasCgerc / cblas_cgerc
template <class T>
struct gerc {
  static_assert(is_complex<T>, "blas::gerc has troupe::complex64 and troupe::complex128");
  in<T> x, y;
  inout<T> a;
  extent m, n;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.gerc", x, y, a, m, n, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * transpose(x) + A, symmetric.   cublasSsyr / cblas_ssyr
template <class T>
struct syr {
  static_assert(is_full<T>, "blas::syr has float, double, troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1;
  TROUPE_REQUEST("blas.syr", x, a, n, uplo, alpha, lda, incx)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * conj(transpose(x)) + A, Hermitian; alpha is real.   cublasCher / cblas_cher
template <class T>
struct her {
  static_assert(is_complex<T>, "blas::her has troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<real_of<T>> alpha = 1;
  extent lda = tight;
  extent incx = 1;
  TROUPE_REQUEST("blas.her", x, a, n, uplo, alpha, lda, incx)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * (x * transpose(y) + y * transpose(x)) + A, symmetric.   cublasSsyr2 / cblas_ssyr2
template <class T>
struct syr2 {
  static_assert(is_full<T>, "blas::syr2 has float, double, troupe::complex64 and troupe::complex128");
  in<T> x, y;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.syr2", x, y, a, n, uplo, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * conj(transpose(y)) + conj(alpha) * y * conj(transpose(x)) + A, Hermitian.
///   cublasCher2 / cblas_cher2
template <class T>
struct her2 {
  static_assert(is_complex<T>, "blas::her2 has troupe::complex64 and troupe::complex128");
  in<T> x, y;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.her2", x, y, a, n, uplo, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

using all_updates = joined_requests<requests_for<full_types, syr, syr2>, requests_for<real_types, ger, spr, spr2>,
                                    requests_for<complex_types, geru, gerc, her, hpr, her2, hpr2>>;

}  // namespace troupe::blas
