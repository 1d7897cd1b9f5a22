// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Products of a packed matrix and a vector, under the rules of <troupe/blas/level2/level2.hpp>. A *packed* triangle
/// stores its columns one after the other, without gaps: n * (n + 1) / 2 elements.
namespace troupe::blas {

/// The product with a packed symmetric matrix.   cublasSspmv / cblas_sspmv
template <class T>
struct spmv {
  static_assert(is_real<T>, "blas::spmv has float and double");
  in<T> a, x;
  inout<T> y;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.spmv", a, x, y, n, uplo, alpha, beta, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

/// The product with a packed Hermitian matrix.   cublasChpmv / cblas_chpmv
template <class T>
struct hpmv {
  static_assert(is_complex<T>, "blas::hpmv has troupe::complex64 and troupe::complex128");
  in<T> a, x;
  inout<T> y;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.hpmv", a, x, y, n, uplo, alpha, beta, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

}  // namespace troupe::blas
