// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>
#include <vector>

/// Batches of gemv or trsm on operands of the same extents. For gemm see <troupe/blas/gemm.hpp>, for factorizations
/// <troupe/blas/factorizations.hpp>.
namespace troupe::blas {

/// y = alpha * op(A) * x + beta * y, for each A, x and y of the lists. A is m by n in memory, before op.
///   cublasSgemvBatched
template <class T>
struct gemv_batched {
  static_assert(is_full<T>, "blas::gemv_batched has float, double, troupe::complex64 and troupe::complex128");
  list<in<T>> a, x;
  list<inout<T>> y;
  extent m, n;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("blas.gemv_batched", a, x, y, m, n, trans, alpha, beta, lda, incx, incy)
  void check(checker&) const;
};

/// Computes gemv `batch` times: the operands of the i-th product are i strides after those of the first. A stride of A
/// or x may be 0: then all products use the same A or x. The results must not share elements.
/// cublasSgemvStridedBatched
template <class T>
struct gemv_strided_batched {
  static_assert(is_full<T>, "blas::gemv_strided_batched has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, x;
  inout<T> y;
  extent m, n, batch;
  op trans = op::none;
  scalar<T> alpha = 1, beta = 0;
  extent lda = tight;
  extent incx = 1, incy = 1;
  extent stride_a = tight, stride_x = tight, stride_y = tight;  ///< `tight`: without gaps
  TROUPE_REQUEST("blas.gemv_strided_batched", a, x, y, m, n, batch, trans, alpha, beta, lda, incx, incy, stride_a,
                 stride_x, stride_y)
  void check(checker&) const;
};

/// B = X, the solution of op(A) * X = alpha * B, or X * op(A) = alpha * B on the right, for each A and B of the lists.
/// A is triangular, B is m by n.   cublasStrsmBatched
template <class T>
struct trsm_batched {
  static_assert(is_full<T>, "blas::trsm_batched has float, double, troupe::complex64 and troupe::complex128");
  list<in<T>> a;
  list<inout<T>> b;
  extent m, n;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  op trans = op::none;
  diagonal diag = diagonal::stored;
  scalar<T> alpha = 1;
  extent lda = tight, ldb = tight;
  TROUPE_REQUEST("blas.trsm_batched", a, b, m, n, side, uplo, trans, diag, alpha, lda, ldb)
  void check(checker&) const;
};

using all_batches = requests_for<full_types, gemv_batched, gemv_strided_batched, trsm_batched>;

}  // namespace troupe::blas
