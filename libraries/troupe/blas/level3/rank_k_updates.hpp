// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Rank-k updates of a symmetric or Hermitian matrix C, under the rules of <troupe/blas/level3/level3.hpp>.
namespace troupe::blas {

/// C = alpha * op(A) * transpose(op(A)) + beta * C, where op(A) is n by k and C is symmetric. For complex elements
/// `trans` must not be conjugate_transpose.   cublasSsyrk / cblas_ssyrk
template <class T>
struct syrk {
  static_assert(is_full<T>, "blas::syrk has float, double, troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight, ldc = tight;
  TROUPE_REQUEST("blas.syrk", a, c, n, k, uplo, trans, alpha, beta, lda, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * conj(transpose(op(A))) + beta * C, where op(A) is n by k and C is Hermitian; alpha and beta are
/// real. `trans` must be none or conjugate_transpose.   cublasCherk / cblas_cherk
template <class T>
struct herk {
  static_assert(is_complex<T>, "blas::herk has troupe::complex64 and troupe::complex128");
  in<T> a;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<real_of<T>> alpha = 1, beta = 0;
  extent lda = tight, ldc = tight;
  TROUPE_REQUEST("blas.herk", a, c, n, k, uplo, trans, alpha, beta, lda, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * (op(A) * transpose(op(B)) + op(B) * transpose(op(A))) + beta * C, as syrk.   cublasSsyr2k / cblas_ssyr2k
template <class T>
struct syr2k {
  static_assert(is_full<T>, "blas::syr2k has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, b;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.syr2k", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * conj(transpose(op(B))) + conj(alpha) * op(B) * conj(transpose(op(A))) + beta * C, as herk; beta
/// is real.   cublasCher2k / cblas_cher2k
template <class T>
struct her2k {
  static_assert(is_complex<T>, "blas::her2k has troupe::complex64 and troupe::complex128");
  in<T> a, b;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<T> alpha = 1;
  scalar<real_of<T>> beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.her2k", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// The triangle `uplo` of C = alpha * op(A) * transpose(op(B)) + beta * C, as syrk: for products that are known to be
/// symmetric.   cublasSsyrkx / blocks of cblas_sgemm
template <class T>
struct syrkx {
  static_assert(is_full<T>, "blas::syrkx has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, b;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.syrkx", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// The triangle `uplo` of C = alpha * op(A) * conj(transpose(op(B))) + beta * C, as herk: for products that are known
/// to be Hermitian; beta is real.   cublasCherkx / blocks of cblas_cgemm
template <class T>
struct herkx {
  static_assert(is_complex<T>, "blas::herkx has troupe::complex64 and troupe::complex128");
  in<T> a, b;
  inout<T> c;
  extent n, k;
  triangle uplo = triangle::lower;
  op trans = op::none;
  scalar<T> alpha = 1;
  scalar<real_of<T>> beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.herkx", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

}  // namespace troupe::blas
