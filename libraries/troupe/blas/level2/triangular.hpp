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
/// whether A is singular: if it is, the solution has infinities or NaN. Band and packed matrices are stored as
/// <troupe/blas/level2/level2.hpp> says.
namespace troupe::blas {

template <class T, fixed_string Name>
struct full_triangular {
  static_assert(is_full<T>, "blas has triangular matrices of float, double, complex64 and complex128");
  in<T> a;
  inout<T> x;
  extent n;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent lda = tight;
  extent incx = 1;
  TROUPE_REQUEST(static_text<Name>, a, x, n, uplo, trans, diag, lda, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The product with a full matrix.   cublasStrmv / cblas_strmv
template <class T>
using trmv = full_triangular<T, "blas.trmv">;
/// The solution with a full matrix.   cublasStrsv / cblas_strsv
template <class T>
using trsv = full_triangular<T, "blas.trsv">;

template <class T, fixed_string Name>
struct band_triangular {
  static_assert(is_full<T>, "blas has triangular matrices of float, double, complex64 and complex128");
  in<T> a;
  inout<T> x;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent lda = tight;  ///< `tight`: k + 1
  extent incx = 1;
  TROUPE_REQUEST(static_text<Name>, a, x, n, k, uplo, trans, diag, lda, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The product with a band matrix.   cublasStbmv / cblas_stbmv
template <class T>
using tbmv = band_triangular<T, "blas.tbmv">;
/// The solution with a band matrix.   cublasStbsv / cblas_stbsv
template <class T>
using tbsv = band_triangular<T, "blas.tbsv">;

template <class T, fixed_string Name>
struct packed_triangular {
  static_assert(is_full<T>, "blas has triangular matrices of float, double, complex64 and complex128");
  in<T> a;
  inout<T> x;
  extent n;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  extent incx = 1;
  TROUPE_REQUEST(static_text<Name>, a, x, n, uplo, trans, diag, incx)
  void check(checker& c) const { detail::check_triangular(*this, c); }
};

/// The product with a packed matrix.   cublasStpmv / cblas_stpmv
template <class T>
using tpmv = packed_triangular<T, "blas.tpmv">;
/// The solution with a packed matrix.   cublasStpsv / cblas_stpsv
template <class T>
using tpsv = packed_triangular<T, "blas.tpsv">;

using all_triangular_vectors = requests_for<full_types, trmv, trsv, tbmv, tbsv, tpmv, tpsv>;

}  // namespace troupe::blas
