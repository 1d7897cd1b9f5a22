// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/request.hpp>
#include <vector>

/// Factorizations, solutions and inverses of many small matrices of the same order in one request. `info` receives one
/// number for each matrix: 0, or i if pivot i, counted from 1, is exactly 0, so that there is no solution or inverse.
/// Pivots are LAPACK's: pivots[i] is the row, counted from 1, that was swapped with row i + 1; each matrix has n of
/// them.
namespace troupe::blas {

/// A = P * L * U, in place; the diagonal of L is 1 and not stored. Without `pivots`, A = L * U without row swaps: fast,
/// but only for matrices that need no pivoting.   cublasSgetrfBatched / sgetrf
template <class T>
struct getrf_batched {
  static_assert(is_full<T>, "blas::getrf_batched has float, double, troupe::complex64 and troupe::complex128");
  list<inout<T>> a;
  std::optional<out<std::int32_t>> pivots = {};
  out<std::int32_t> info;
  extent n;
  extent lda = tight;
  TROUPE_REQUEST("blas.getrf_batched", a, pivots, info, n, lda)
  void check(checker&) const;
};

/// B = X, the solution of op(A) * X = B, where `a` and `pivots` are results of getrf_batched. B is n by nrhs. If a
/// pivot is not a row of its matrix, the host engine fails the request when it runs, before anything is written. The
/// GPU engine cannot check, because only the GPU reads pivots: there the request succeeds, the solution for that matrix
/// is NaN, and the others are right.
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
  TROUPE_REQUEST("blas.getrs_batched", a, pivots, b, n, nrhs, trans, lda, ldb)
  void check(checker&) const;
};

/// C = the inverse of A, where `a` and `pivots` are results of getrf_batched. A pivot that is not a row of its matrix
/// makes the request fail or the inverse NaN, as in getrs_batched; on a GPU the `info` of that matrix is then -1.
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
  TROUPE_REQUEST("blas.getri_batched", a, pivots, c, info, n, lda, ldc)
  void check(checker&) const;
};

/// C = the inverse of A, in one step, with pivoting. A is not changed.   cublasSmatinvBatched / sgetrf, sgetri
template <class T>
struct matinv_batched {
  static_assert(is_full<T>, "blas::matinv_batched has float, double, troupe::complex64 and troupe::complex128");
  list<in<T>> a;
  list<out<T>> c;
  out<std::int32_t> info;
  extent n;
  extent lda = tight, ldc = tight;
  TROUPE_REQUEST("blas.matinv_batched", a, c, info, n, lda, ldc)
  void check(checker&) const;
};

/// A = Q * R, in place: R in the upper triangle; Q below it and in `tau`, as LAPACK's reflectors, min(m, n) for each
/// matrix. A is m by n.   cublasSgeqrfBatched / sgeqrf
template <class T>
struct geqrf_batched {
  static_assert(is_full<T>, "blas::geqrf_batched has float, double, troupe::complex64 and troupe::complex128");
  list<inout<T>> a;
  list<out<T>> tau;
  extent m, n;
  extent lda = tight;
  TROUPE_REQUEST("blas.geqrf_batched", a, tau, m, n, lda)
  void check(checker&) const;
};

/// Least squares: finds the X, n by nrhs, that minimizes |A * X - C|, for an m by n matrix A of full rank with m >= n.
/// C is m by nrhs. Its first n rows become X, the rest depend on the residual; A becomes its factorization, as in
/// geqrf_batched. `info` is i if entry i of R's diagonal is exactly 0: then A does not have full rank, and C is not a
/// solution.
///   cublasSgelsBatched / sgels
template <class T>
struct gels_batched {
  static_assert(is_full<T>, "blas::gels_batched has float, double, troupe::complex64 and troupe::complex128");
  list<inout<T>> a, c;
  out<std::int32_t> info;
  extent m, n, nrhs;
  extent lda = tight, ldc = tight;
  TROUPE_REQUEST("blas.gels_batched", a, c, info, m, n, nrhs, lda, ldc)
  void check(checker&) const;
};

using all_factorizations =
    requests_for<full_types, getrf_batched, getrs_batched, getri_batched, matinv_batched, geqrf_batched, gels_batched>;

}  // namespace troupe::blas
