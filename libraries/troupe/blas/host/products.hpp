// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/host/small_gemm/small_gemm.hpp>
#include <troupe/blas/host/support.hpp>

/// The products that single requests and batches share, with values that fit in OpenBLAS's integers.
namespace troupe::blas {

/// Computes y = alpha * op(A) * x + beta * y.
template <class T>
struct vector_product {
  op trans;
  std::int64_t m, n;
  T alpha, beta;
  const T* a;
  std::int64_t lda;
  const T* x;
  std::int64_t incx;
  T* y;
  std::int64_t incy;
};

template <class T>
void multiply_vector(vector_product<T> p) {
  const auto scaling = [&p] { scale(p.y, p.trans == op::none ? p.m : p.n, p.incy, p.beta); };
  if (p.alpha == T(0)) return scaling();
  p.beta = scaled_here(p.beta, scaling);
  TROUPE_CBLAS(gemv)(CblasColMajor, code(p.trans), narrow(p.m), narrow(p.n), cblas_scalar(p.alpha), p.a, narrow(p.lda),
                     p.x, narrow(p.incx), cblas_scalar(p.beta), p.y, narrow(p.incy));
}

/// Computes C = alpha * op(A) * op(B) + beta * C.
template <class T, class C>
struct matrix_product {
  op trans_a, trans_b;
  std::int64_t m, n, k;
  compute_of<T, C> alpha, beta;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  C* c;
  std::int64_t ldc;
};

/// Computes a product with our own kernel, or returns false if OpenBLAS is better for it.
template <class T>
bool multiplied_small(const matrix_product<T, T>& p) noexcept {
  if (p.m > small_extent || p.n > small_extent || p.k > small_extent || p.alpha == 0) return false;
  return multiply_small(small_product<T>{.turn_a = p.trans_a != op::none,
                                         .turn_b = p.trans_b != op::none,
                                         .m = p.m,
                                         .n = p.n,
                                         .k = p.k,
                                         .alpha = p.alpha,
                                         .beta = p.beta,
                                         .a = p.a,
                                         .lda = p.lda,
                                         .b = p.b,
                                         .ldb = p.ldb,
                                         .c = p.c,
                                         .ldc = p.ldc});
}

template <class T>
void multiply(const matrix_product<T, T>& p) {
  if constexpr (is_real<T>)
    if (multiplied_small(p)) return;
  // If alpha is 0, k is 0 too, so that nothing of a and b is read; OpenBLAS's AVX-512 kernels would read them.
  const blasint k = p.alpha == T(0) ? 0 : narrow(p.k);
  TROUPE_CBLAS(gemm)(CblasColMajor, code(p.trans_a), code(p.trans_b), narrow(p.m), narrow(p.n), k,
                     cblas_scalar(p.alpha), p.a, narrow(p.lda), p.b, narrow(p.ldb), cblas_scalar(p.beta), p.c,
                     narrow(p.ldc));
}
/// Element types that BLAS lacks are converted block by block, and multiplied and summed in float.
void multiply(const matrix_product<half, half>& p);
void multiply(const matrix_product<half, float>& p);
void multiply(const matrix_product<bfloat16, bfloat16>& p);
void multiply(const matrix_product<bfloat16, float>& p);
void multiply(const matrix_product<std::int8_t, std::int32_t>& p);
void multiply(const matrix_product<std::int8_t, float>& p);

/// A factor of a product. It is stored column by column, or row by row if `transposed`.
template <class T>
struct matrix_factor {
  const T* data;
  std::int64_t ld;
  bool transposed = false;
};
/// Computes c = a * b + beta * c. a is m x k, b is k x n; c is stored column by column.
template <class T, class C>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const matrix_factor<T>& a, const matrix_factor<T>& b,
              compute_of<T, C> beta, C* c, std::int64_t ldc) {
  const auto operation = [](const matrix_factor<T>& f) { return f.transposed ? op::transpose : op::none; };
  multiply(matrix_product<T, C>{.trans_a = operation(a),
                                .trans_b = operation(b),
                                .m = m,
                                .n = n,
                                .k = k,
                                .alpha = 1,
                                .beta = beta,
                                .a = a.data,
                                .lda = a.ld,
                                .b = b.data,
                                .ldb = b.ld,
                                .c = c,
                                .ldc = ldc});
}

}  // namespace troupe::blas
