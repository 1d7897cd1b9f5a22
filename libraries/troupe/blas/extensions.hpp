// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Operations that BLAS lacks: sums of matrices, and products with a diagonal matrix.
namespace troupe::blas {

/// C = alpha * op(A) + beta * op(B), where C is m by n. If a factor is 0, the content of its matrix has no effect. C
/// may be A or B, in place: the same memory with the same leading dimension, not transposed.
///   cublasSgeam / our own loops on the host
template <class T>
struct geam {
  static_assert(is_full<T>, "blas::geam has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, b;
  out<T> c;
  extent m, n;
  op trans_a = op::none, trans_b = op::none;
  scalar<T> alpha = 1, beta = 1;
  extent lda = tight, ldb = tight, ldc = tight;
  TROUPE_REQUEST("blas.geam", a, b, c, m, n, trans_a, trans_b, alpha, beta, lda, ldb, ldc)
  void check(checker&) const;
};

/// C = diagonal(x) * A, or A * diagonal(x) on the right, where A and C are m by n: element (i, j) is A(i, j) * x[i], or
/// A(i, j) * x[j]. C may be A, in place: the same memory with the same leading dimension.
///   cublasSdgmm / our own loops on the host
template <class T>
struct dgmm {
  static_assert(is_full<T>, "blas::dgmm has float, double, troupe::complex64 and troupe::complex128");
  in<T> a, x;
  out<T> c;
  extent m, n;
  blas::side side = blas::side::left;
  extent lda = tight, incx = 1, ldc = tight;
  TROUPE_REQUEST("blas.dgmm", a, x, c, m, n, side, lda, incx, ldc)
  void check(checker&) const;
};

using all_extensions = requests_for<full_types, geam, dgmm>;

}  // namespace troupe::blas
