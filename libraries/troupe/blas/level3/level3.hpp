// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Operations on matrices other than gemm. If beta == 0, C is not read; if alpha == 0, the contents of A and B have no
/// effect. Of symmetric, Hermitian and triangular matrices only the triangle that `uplo` names is touched. The
/// imaginary parts of a Hermitian diagonal count as 0, and become 0 where the matrix is written.
namespace troupe::blas {

template <class T, fixed_string Name, bool HasElements>
struct sided_product {
  static_assert(HasElements, "blas has symm of float, double, complex64 and complex128, hemm of the complex types");
  in<T> a, b;
  inout<T> c;
  extent m, n;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST(static_text<Name>, a, b, c, m, n, side, uplo, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * A * B + beta * C, or alpha * B * A + beta * C on the right, where A is symmetric, and B and C are m by
/// n.
///   cublasSsymm / cblas_ssymm
template <class T>
using symm = sided_product<T, "blas.symm", is_full<T>>;
/// symm with a Hermitian A.   cublasChemm / cblas_chemm
template <class T>
using hemm = sided_product<T, "blas.hemm", is_complex<T>>;

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

template <class T, fixed_string Name, bool HasElements>
struct rank_k_update {
  static_assert(HasElements, "blas has syrk of float, double, complex64 and complex128, herk of the complex types");
  in<T> a;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<factor_of<T, Name>> alpha = 1, beta = 0;
  extent lda = tight, ldc = tight;
  TROUPE_REQUEST(static_text<Name>, a, c, n, k, uplo, trans, alpha, beta, lda, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * transpose(op(A)) + beta * C, where op(A) is n by k and C is symmetric. For complex elements
/// `trans` must not be conjugate_transpose.   cublasSsyrk / cblas_ssyrk
template <class T>
using syrk = rank_k_update<T, "blas.syrk", is_full<T>>;
/// C = alpha * op(A) * conj(transpose(op(A))) + beta * C, where op(A) is n by k and C is Hermitian; alpha and beta are
/// real. `trans` must be none or conjugate_transpose.   cublasCherk / cblas_cherk
template <class T>
using herk = rank_k_update<T, "blas.herk", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct rank_2k_update {
  static_assert(HasElements, "blas has syr2k and syrkx of all full types, her2k and herkx of the complex types");
  in<T> a, b;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<T> alpha = 1;
  scalar<factor_of<T, Name>> beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST(static_text<Name>, a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * (op(A) * transpose(op(B)) + op(B) * transpose(op(A))) + beta * C, as syrk.   cublasSsyr2k / cblas_ssyr2k
template <class T>
using syr2k = rank_2k_update<T, "blas.syr2k", is_full<T>>;
/// C = alpha * op(A) * conj(transpose(op(B))) + conj(alpha) * op(B) * conj(transpose(op(A))) + beta * C, as herk; beta
/// is real.   cublasCher2k / cblas_cher2k
template <class T>
using her2k = rank_2k_update<T, "blas.her2k", is_complex<T>>;
/// Computes the triangle `uplo` of C = alpha * op(A) * transpose(op(B)) + beta * C, where the product is known to be
/// symmetric: like syrk, with a second factor.   cublasSsyrkx / blocks of cblas_sgemm
template <class T>
using syrkx = rank_2k_update<T, "blas.syrkx", is_full<T>>;
/// Computes the triangle `uplo` of C = alpha * op(A) * conj(transpose(op(B))) + beta * C, where beta is real and the
/// product is known to be Hermitian: like herk, with a second factor.   cublasCherkx / blocks of cblas_cgemm
template <class T>
using herkx = rank_2k_update<T, "blas.herkx", is_complex<T>>;

using all_level3 = joined_requests<requests_for<full_types, symm, syrk, syr2k, syrkx, trmm, trsm>,
                                   requests_for<complex_types, hemm, herk, her2k, herkx>>;

}  // namespace troupe::blas
