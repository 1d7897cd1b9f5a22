// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/level3/rank_k_updates.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Operations on matrices other than gemm. If beta == 0, C is not read; if alpha == 0, the contents of A and B have no
/// effect. Of symmetric, Hermitian and triangular matrices only the triangle that `uplo` names is touched. The
/// imaginary parts of a Hermitian diagonal count as 0, and become 0 where the matrix is written. Rank-k updates are in
/// <troupe/blas/level3/rank_k_updates.hpp>.
namespace troupe::blas {

/// C = alpha * A * B + beta * C, or alpha * B * A + beta * C on the right, where A is symmetric, and B and C are m by
/// n.
///   cublasSsymm / cblas_ssymm
template <class T>
struct symm {
  static_assert(is_full<T>, "blas::symm has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, b;
  inout<T> c;
  extent m, n;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.symm", a, b, c, m, n, side, uplo, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// symm with a Hermitian A.   cublasChemm / cblas_chemm
template <class T>
struct hemm {
  static_assert(is_complex<T>, "blas::hemm has troupe::complex64 and troupe::complex128");
  in<T> a, b;
  inout<T> c;
  extent m, n;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.hemm", a, b, c, m, n, side, uplo, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * B, or alpha * B * op(A) on the right, where A is triangular, and B and C are m by n. C may be B,
/// in place: the same memory with the same leading dimension.   cublasStrmm / cblas_strmm
template <class T>
struct trmm {
  static_assert(is_full<T>, "blas::trmm has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, b;
  out<T> c;
  extent m, n;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  scalar<T> alpha = 1;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.trmm", a, b, c, m, n, side, uplo, trans, diag, alpha, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// B = X, the solution of op(A) * X = alpha * B, or X * op(A) = alpha * B on the right, where A is triangular and B is
/// m by n. Does not check whether A is singular.   cublasStrsm / cblas_strsm
template <class T>
struct trsm {
  static_assert(is_full<T>, "blas::trsm has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> b;
  extent m, n;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  scalar<T> alpha = 1;
  extent lda = tight, ldb = tight;
  TROUPE_REQUEST("blas.trsm", a, b, m, n, side, uplo, trans, diag, alpha, lda, ldb)
  void check(checker& c) const { detail::check_product(*this, c); }
};

using all_level3 = joined_requests<requests_for<full_types, symm, syrk, syr2k, syrkx, trmm, trsm>,
                                   requests_for<complex_types, hemm, herk, her2k, herkx>>;

}  // namespace troupe::blas
