// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Updates of a packed matrix by vectors, under the rules of <troupe/blas/level2/updates.hpp>. Packed triangles are
/// stored as <troupe/blas/level2/packed_products.hpp> says.
namespace troupe::blas {

/// syr with a packed matrix.   cublasSspr / cblas_sspr
template <class T>
struct spr {
  static_assert(is_real<T>, "blas::spr has float and double");
  in<T> x;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent incx = 1;
  TROUPE_REQUEST("blas.spr", x, a, n, uplo, alpha, incx)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// her with a packed matrix.   cublasChpr / cblas_chpr
template <class T>
struct hpr {
  static_assert(is_complex<T>, "blas::hpr has troupe::complex64 and troupe::complex128");
  in<T> x;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<real_of<T>> alpha = 1;
  extent incx = 1;
  TROUPE_REQUEST("blas.hpr", x, a, n, uplo, alpha, incx)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// syr2 with a packed matrix.   cublasSspr2 / cblas_sspr2
template <class T>
struct spr2 {
  static_assert(is_real<T>, "blas::spr2 has float and double");
  in<T> x, y;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.spr2", x, y, a, n, uplo, alpha, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// her2 with a packed matrix.   cublasChpr2 / cblas_chpr2
template <class T>
struct hpr2 {
  static_assert(is_complex<T>, "blas::hpr2 has troupe::complex64 and troupe::complex128");
  in<T> x, y;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.hpr2", x, y, a, n, uplo, alpha, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

}  // namespace troupe::blas
