// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Products of a matrix and a vector: y = alpha * op(A) * x + beta * y. If beta == 0, y is not read: whatever it holds,
/// NaN included, is overwritten. If alpha == 0, the contents of A and x have no effect.
///
/// Matrices are column-major: element (i, j) lies at i + j * leading dimension. Of symmetric and Hermitian matrices
/// only the triangle that `uplo` names is read, and of a Hermitian diagonal only the real part. A *band* matrix with
/// `kl` diagonals below the main one and `ku` above it stores its diagonals as rows, element (i, j) at (ku + i - j) + j
/// * leading dimension. A symmetric or Hermitian band matrix stores the k diagonals of its triangle: element (i, j) at
/// (i - j) + j * leading dimension if lower, at (k + i - j) + j * leading dimension if upper. A *packed* triangle
/// stores its columns one after the other, without gaps: n * (n + 1) / 2 elements.
namespace troupe::blas {

/// The product with an m by n matrix A. x has n elements and y has m; if A is transposed, x has m and y has n.
///   cublasSgemv / cblas_sgemv
template <class T>
struct gemv {
  static_assert(is_full<T>, "blas::gemv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, x;
  inout<T> y;
  extent m, n;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.gemv", a, x, y, m, n, trans, alpha, beta, lda, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

/// The product with a band matrix.   cublasSgbmv / cblas_sgbmv
template <class T>
struct gbmv {
  static_assert(is_full<T>, "blas::gbmv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, x;
  inout<T> y;
  extent m, n, kl, ku;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight;  ///< `tight`: kl + ku + 1
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.gbmv", a, x, y, m, n, kl, ku, trans, alpha, beta, lda, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

template <class T, fixed_string Name, bool HasElements>
struct full_product {
  static_assert(HasElements, "blas has symv of float, double, complex64 and complex128, hemv of the complex types");
  in<T> a, x;
  inout<T> y;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST(static_text<Name>, a, x, y, n, uplo, alpha, beta, lda, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

/// The product with a symmetric matrix.   cublasSsymv / cblas_ssymv
template <class T>
using symv = full_product<T, "blas.symv", is_full<T>>;
/// The product with a Hermitian matrix.   cublasChemv / cblas_chemv
template <class T>
using hemv = full_product<T, "blas.hemv", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct band_product {
  static_assert(HasElements, "blas has sbmv of float and double, hbmv of complex64 and complex128");
  in<T> a, x;
  inout<T> y;
  extent n, k;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight;  ///< `tight`: k + 1
  extent incx = 1, incy = 1;
  TROUPE_REQUEST(static_text<Name>, a, x, y, n, k, uplo, alpha, beta, lda, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

/// The product with a symmetric band matrix.   cublasSsbmv / cblas_ssbmv
template <class T>
using sbmv = band_product<T, "blas.sbmv", is_real<T>>;
/// The product with a Hermitian band matrix.   cublasChbmv / cblas_chbmv
template <class T>
using hbmv = band_product<T, "blas.hbmv", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct packed_product {
  static_assert(HasElements, "blas has spmv of float and double, hpmv of complex64 and complex128");
  in<T> a, x;
  inout<T> y;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST(static_text<Name>, a, x, y, n, uplo, alpha, beta, incx, incy)
  void check(checker& c) const { detail::check_vector_product(*this, c); }
};

/// The product with a packed symmetric matrix.   cublasSspmv / cblas_sspmv
template <class T>
using spmv = packed_product<T, "blas.spmv", is_real<T>>;
/// The product with a packed Hermitian matrix.   cublasChpmv / cblas_chpmv
template <class T>
using hpmv = packed_product<T, "blas.hpmv", is_complex<T>>;

using all_level2 = joined_requests<requests_for<full_types, gemv, gbmv, symv>, requests_for<real_types, sbmv, spmv>,
                                   requests_for<complex_types, hemv, hbmv, hpmv>>;

}  // namespace troupe::blas
