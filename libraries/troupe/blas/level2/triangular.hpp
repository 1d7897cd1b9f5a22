// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Operations on a triangular matrix and a vector, in place: x = op(A) * x, or x becomes the solution y of op(A) * y =
/// x. Of A only the triangle that `uplo` names is read, and the diagonal only if it is `stored`. No request checks
/// whether A is singular: if it is, the solution has infinities or NaN. Band matrices are stored as
/// <troupe/blas/level2/level2.hpp> says, packed matrices as <troupe/blas/level2/packed_products.hpp> says.
namespace troupe::blas {

/// The product with a full matrix.   cublasStrmv / cblas_strmv
template <class T>
struct trmv {
  static_assert(is_full<T>, "blas::trmv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> x;
  extent n;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent lda = tight;
  extent incx = 1;
  TROUPE_REQUEST("blas.trmv", a, x, n, uplo, trans, diag, lda, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The solution with a full matrix.   cublasStrsv / cblas_strsv
template <class T>
struct trsv {
  static_assert(is_full<T>, "blas::trsv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> x;
  extent n;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent lda = tight;
  extent incx = 1;
  TROUPE_REQUEST("blas.trsv", a, x, n, uplo, trans, diag, lda, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The product with a band matrix.   cublasStbmv / cblas_stbmv
template <class T>
struct tbmv {
  static_assert(is_full<T>, "blas::tbmv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> x;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent lda = tight;  ///< `tight`: k + 1
  extent incx = 1;
  TROUPE_REQUEST("blas.tbmv", a, x, n, k, uplo, trans, diag, lda, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The solution with a band matrix.   cublasStbsv / cblas_stbsv
template <class T>
struct tbsv {
  static_assert(is_full<T>, "blas::tbsv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> x;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent lda = tight;  ///< `tight`: k + 1
  extent incx = 1;
  TROUPE_REQUEST("blas.tbsv", a, x, n, k, uplo, trans, diag, lda, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The product with a packed matrix.   cublasStpmv / cblas_stpmv
template <class T>
struct tpmv {
  static_assert(is_full<T>, "blas::tpmv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> x;
  extent n;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent incx = 1;
  TROUPE_REQUEST("blas.tpmv", a, x, n, uplo, trans, diag, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The solution with a packed matrix.   cublasStpsv / cblas_stpsv
template <class T>
struct tpsv {
  static_assert(is_full<T>, "blas::tpsv has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> x;
  extent n;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent incx = 1;
  TROUPE_REQUEST("blas.tpsv", a, x, n, uplo, trans, diag, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

using all_triangular_vectors = requests_for<full_types, trmv, trsv, tbmv, tbsv, tpmv, tpsv>;

}  // namespace troupe::blas
