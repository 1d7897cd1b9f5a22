// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/request.hpp>
#include <vector>

/// Factorisations, solutions and inverses of many small matrices of one size in one request. `info` gets one number for
/// each matrix: 0, or i when pivot i, counted from 1, is exactly 0, so that there is no solution or inverse. Pivots are
/// LAPACK's: pivots[i] is the row, counted from 1, that changed places with row i + 1; n of them for each matrix.
namespace troupe::blas {

/// A = P * L * U, in place, with L's diagonal of ones left out. Without `pivots`, A = L * U, with no row changing
/// places: fast, but only for matrices known to be benign.   cublasSgetrfBatched / sgetrf
template <class T>
struct getrf_batched {
  static_assert(is_full<T>, "blas::getrf_batched has float, double, troupe::complex64 and troupe::complex128");
  list<inout<T>> a;
  std::optional<out<std::int32_t>> pivots = {};
  out<std::int32_t> info;
  extent n;
  extent lda = tight;
  using reply = void;
  TROUPE_REQUEST("blas.getrf_batched", a, pivots, info, n, lda)
  void check(checker&) const;
};

/// B = the solution X of op(A) * X = B, where `a` and `pivots` are what getrf_batched left. B is n by nrhs. Pivots that
/// are no rows of their matrix are refused by the host engine when the request runs, before anything is written. On a
/// GPU, which alone reads them, the request succeeds: that matrix's solution is NaN, and the others are right.
///   cublasSgetrsBatched / sgetrs
template <class T>
struct getrs_batched {
  static_assert(is_full<T>, "blas::getrs_batched has float, double, troupe::complex64 and troupe::complex128");
  list<in<T>> a;
  std::optional<in<std::int32_t>> pivots = {};
  list<inout<T>> b;
  extent n, nrhs;
  op trans = op::none;
  extent lda = tight, ldb = tight;
  using reply = void;
  TROUPE_REQUEST("blas.getrs_batched", a, pivots, b, n, nrhs, trans, lda, ldb)
  void check(checker&) const;
};

/// C = the inverse of A, where `a` and `pivots` are what getrf_batched left. Pivots that are no rows of their matrix
/// are refused or make the inverse NaN, as those of getrs_batched; on a GPU that matrix's `info` is -1 then.
///   cublasSgetriBatched / sgetri
template <class T>
struct getri_batched {
  static_assert(is_full<T>, "blas::getri_batched has float, double, troupe::complex64 and troupe::complex128");
  list<in<T>> a;
  std::optional<in<std::int32_t>> pivots = {};
  list<out<T>> c;
  out<std::int32_t> info;
  extent n;
  extent lda = tight, ldc = tight;
  using reply = void;
  TROUPE_REQUEST("blas.getri_batched", a, pivots, c, info, n, lda, ldc)
  void check(checker&) const;
};

/// C = the inverse of A, in one step, with pivoting. A keeps its content.   cublasSmatinvBatched / sgetrf, sgetri
template <class T>
struct matinv_batched {
  static_assert(is_full<T>, "blas::matinv_batched has float, double, troupe::complex64 and troupe::complex128");
  list<in<T>> a;
  list<out<T>> c;
  out<std::int32_t> info;
  extent n;
  extent lda = tight, ldc = tight;
  using reply = void;
  TROUPE_REQUEST("blas.matinv_batched", a, c, info, n, lda, ldc)
  void check(checker&) const;
};

/// A = Q * R, in place: R in the upper triangle, Q below it and in `tau` as LAPACK's reflectors, min(m, n) for each
/// matrix. A is m by n.   cublasSgeqrfBatched / sgeqrf
template <class T>
struct geqrf_batched {
  static_assert(is_full<T>, "blas::geqrf_batched has float, double, troupe::complex64 and troupe::complex128");
  list<inout<T>> a;
  list<out<T>> tau;
  extent m, n;
  extent lda = tight;
  using reply = void;
  TROUPE_REQUEST("blas.geqrf_batched", a, tau, m, n, lda)
  void check(checker&) const;
};

/// Least squares: the X, n by nrhs, that makes |A * X - C| smallest, for an A of full rank that is m by n with m >= n.
/// C is m by nrhs and becomes X, above what the residual leaves; A becomes its factorisation, as of geqrf_batched.
/// `info` is i where entry i of R's diagonal is exactly 0: A has not full rank, and C is not a solution.
///   cublasSgelsBatched / sgels
template <class T>
struct gels_batched {
  static_assert(is_full<T>, "blas::gels_batched has float, double, troupe::complex64 and troupe::complex128");
  list<inout<T>> a, c;
  out<std::int32_t> info;
  extent m, n, nrhs;
  extent lda = tight, ldc = tight;
  using reply = void;
  TROUPE_REQUEST("blas.gels_batched", a, c, info, m, n, nrhs, lda, ldc)
  void check(checker&) const;
};

using all_factorizations =
    requests_for<full_types, getrf_batched, getrs_batched, getri_batched, matinv_batched, geqrf_batched, gels_batched>;

}  // namespace troupe::blas
