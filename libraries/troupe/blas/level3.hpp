// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/scalar.hpp>

/// Operations on matrices beside gemm. With beta == 0, C is not read; with alpha == 0, what A and B hold does not
/// count. Of symmetric, Hermitian and triangular matrices only the triangle that `uplo` names is touched; the imaginary
/// parts of a Hermitian diagonal count as 0, and become 0 where it is written.
namespace troupe::blas {

namespace detail {
/// Checks a request of this header, by the fields that it has.
template <class R>
void check_product(const R& r, checker& check);
}  // namespace detail

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
  using reply = void;
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
  using reply = void;
  TROUPE_REQUEST("blas.hemm", a, b, c, m, n, side, uplo, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * transpose(op(A)) + beta * C, where op(A) is n by k and C is symmetric.
/// `trans` may not be conjugate_transpose for complex elements.   cublasSsyrk / cblas_ssyrk
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
  using reply = void;
  TROUPE_REQUEST("blas.syrk", a, c, n, k, uplo, trans, alpha, beta, lda, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * conj(transpose(op(A))) + beta * C, where op(A) is n by k and C is Hermitian; alpha and beta are
/// real. `trans` is none or conjugate_transpose.   cublasCherk / cblas_cherk
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
  using reply = void;
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
  using reply = void;
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
  using reply = void;
  TROUPE_REQUEST("blas.her2k", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * transpose(op(B)) + beta * C, of which the triangle `uplo` is computed, as syrk: for products
/// that are known to be symmetric.   cublasSsyrkx / blocks of cblas_sgemm
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
  using reply = void;
  TROUPE_REQUEST("blas.syrkx", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// C = alpha * op(A) * conj(transpose(op(B))) + beta * C, of which the triangle `uplo` is computed, as herk: for
/// products that are known to be Hermitian; beta is real.   cublasCherkx / blocks of cblas_cgemm
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
  using reply = void;
  TROUPE_REQUEST("blas.herkx", a, b, c, n, k, uplo, trans, alpha, beta, lda, ldb, ldc)
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
  using reply = void;
  TROUPE_REQUEST("blas.trmm", a, b, c, m, n, side, uplo, trans, diag, alpha, lda, ldb, ldc)
  void check(checker& c) const { detail::check_product(*this, c); }
};

/// B = X, the solution of op(A) * X = alpha * B, or X * op(A) = alpha * B on the right, where A is triangular and B is
/// m by n. Nothing looks whether A is singular.   cublasStrsm / cblas_strsm
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
  using reply = void;
  TROUPE_REQUEST("blas.trsm", a, b, m, n, side, uplo, trans, diag, alpha, lda, ldb)
  void check(checker& c) const { detail::check_product(*this, c); }
};

using all_level3 = joined_requests<requests_for<full_types, symm, syrk, syr2k, syrkx, trmm, trsm>,
                                   requests_for<complex_types, hemm, herk, her2k, herkx>>;

}  // namespace troupe::blas
