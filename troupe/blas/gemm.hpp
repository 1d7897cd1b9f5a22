// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/op.hpp>
#include <troupe/request/request.hpp>
#include <type_traits>

/// Dense linear algebra on vectors and matrices. Matrices are column-major: element (i, j) lies at i + j * leading
/// dimension. Element i of a vector of n lies at i * inc, or at (n - 1 - i) * -inc when its increment is negative: such
/// a vector is the same memory, walked backwards. `tight` as an increment is 1. Sizes must be at least 1, increments
/// not 0. An operand that is written may not overlap another one.
namespace troupe::blas {

/// The type of alpha and beta: the one in which the products are summed. float and double sum in themselves.
template <class T>
using scalar_of = T;

/// The elements this library computes with.
template <class T>
inline constexpr bool is_supported = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// C = alpha * op(A) * op(B) + beta * C, where op(A) is m by k, op(B) is k by n and C is m by n.
/// With beta == 0, C is not read: whatever it held, NaN included, is gone. With alpha == 0, what A and B hold does not
/// count.   cublasSgemm / cblas_sgemm
template <class T>
struct gemm {
  static_assert(is_supported<T>, "blas::gemm has float and double");
  in<T> a, b;
  inout<T> c;
  extent m, n, k;
  op trans_a = op::none, trans_b = op::none;
  scalar_of<T> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;  ///< `tight`: the rows of A, B, C as they are stored
  using reply = void;
  TROUPE_REQUEST("blas.gemm", a, b, c, m, n, k, trans_a, trans_b, alpha, beta, lda, ldb, ldc)
  void check(checker&) const;
};

/// y = alpha * op(A) * x + beta * y, where A is m by n. x has n elements and y has m, or the other way round when A is
/// transposed. With beta == 0, y is not read. With alpha == 0, what A and x hold does not count.
///   cublasSgemv / cblas_sgemv
template <class T>
struct gemv {
  static_assert(is_supported<T>, "blas::gemv has float and double");
  in<T> a, x;
  inout<T> y;
  extent m, n;
  op trans = op::none;
  scalar_of<T> alpha = 1, beta = 0;
  extent lda = tight;
  extent incx = 1, incy = 1;
  using reply = void;
  TROUPE_REQUEST("blas.gemv", a, x, y, m, n, trans, alpha, beta, lda, incx, incy)
  void check(checker&) const;
};

/// y = alpha * x + y.   cublasSaxpy / cblas_saxpy
/// With alpha == 0, y stays as it is, whatever x holds.
template <class T>
struct axpy {
  static_assert(is_supported<T>, "blas::axpy has float and double");
  in<T> x;
  inout<T> y;
  extent n;
  scalar_of<T> alpha = 1;
  extent incx = 1, incy = 1;
  using reply = void;
  TROUPE_REQUEST("blas.axpy", x, y, n, alpha, incx, incy)
  void check(checker&) const;
};

/// x = alpha * x, in place.   cublasSscal / cblas_sscal
/// Always the product: alpha == 0 leaves NaN where x was NaN or infinite. A negative increment touches the same
/// elements as a positive one (BLAS itself would do nothing). To clear memory, fill it.
template <class T>
struct scal {
  static_assert(is_supported<T>, "blas::scal has float and double");
  inout<T> x;
  extent n;
  scalar_of<T> alpha = 1;
  extent incx = 1;
  using reply = void;
  TROUPE_REQUEST("blas.scal", x, n, alpha, incx)
  void check(checker&) const;
};

/// Answers the sum of x[i] * y[i]. x and y may be the same memory.   cublasSdot / cblas_sdot
template <class T>
struct dot {
  static_assert(is_supported<T>, "blas::dot has float and double");
  in<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  using reply = T;
  TROUPE_REQUEST("blas.dot", x, y, n, incx, incy)
  void check(checker&) const;
};

}  // namespace troupe::blas
