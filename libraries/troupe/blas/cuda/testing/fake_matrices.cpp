// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Level 3, and the extensions of cuBLAS.
#include <troupe/blas/cuda/testing/fake_handle.hpp>

using namespace troupe::blas::testing;

#define FAKE(NAME, ...) cublasStatus_t NAME(cublasHandle_t h, __VA_ARGS__)
#define DONE return CUBLAS_STATUS_SUCCESS

// C = alpha * A * B + beta * C with A on the left, or B * A on the right; C is m by n.
template <class E, class A, class B>
static cublasStatus_t on_side(cublasSideMode_t side, i64 m, i64 n, known<E> alpha, A a, B b, known<E> beta, E* c,
                              i64 ldc) {
  if (side == CUBLAS_SIDE_LEFT)
    multiply<E>(m, n, m, alpha, a, b, beta, full(c, ldc), everywhere());
  else
    multiply<E>(m, n, n, alpha, b, a, beta, full(c, ldc), everywhere());
  DONE;
}
// Returns the second factor of a symmetric or Hermitian product.
template <bool Hermitian, class M>
static auto transposed(M m) {
  if constexpr (Hermitian)
    return conjugate_transposed(m);
  else
    return transposed(m);
}
template <bool Hermitian, class E, class A, class B>
static cublasStatus_t update_triangle(cublasFillMode_t f, cublasOperation_t o, i64 n, i64 k, known<A> alpha, const E* a,
                                      i64 lda, const E* b, i64 ldb, known<B> beta, E* c, i64 ldc) {
  if (o == (Hermitian ? CUBLAS_OP_T : CUBLAS_OP_C) && is_complex_number<E>) return CUBLAS_STATUS_INVALID_VALUE;
  multiply<E>(n, n, k, alpha, apply_op(o, general(full(a, lda))),
              transposed<Hermitian>(apply_op(o, general(full(b, ldb)))), beta, full(c, ldc), within(is_lower(f)));
  DONE;
}
template <bool Hermitian, class E, class B>
static cublasStatus_t update_triangle_twice(cublasFillMode_t f, cublasOperation_t o, i64 n, i64 k, known<E> alpha,
                                            const E* a, i64 lda, const E* b, i64 ldb, known<B> beta, E* c, i64 ldc) {
  const auto first = update_triangle<Hermitian>(f, o, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (first != CUBLAS_STATUS_SUCCESS) return first;
  if (Hermitian) alpha.value = conjugated(alpha.value);
  return update_triangle<Hermitian>(f, o, n, k, alpha, b, ldb, a, lda, known<B>{B(1), true}, c, ldc);
}
template <class E>
static void solve_matrix(cublasSideMode_t side, cublasFillMode_t f, cublasOperation_t o, cublasDiagType_t d, i64 m,
                         i64 n, known<E> alpha, const E* a, i64 lda, E* b, i64 ldb) {
  const bool unit = d == CUBLAS_DIAG_UNIT;
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i) b[i + j * ldb] = times(alpha.value, b[i + j * ldb]);
  const auto op_a = apply_op(o, triangular(full(a, lda), is_lower(f), unit));
  const bool lower = lower_as_seen(f, o);
  if (side == CUBLAS_SIDE_LEFT)
    for (i64 j = 0; j < n; ++j) solve(m, op_a, lower, unit, [&](i64 i) -> E& { return b[i + j * ldb]; });
  else  // X * A = B is solved as A' * X' = B'
    for (i64 i = 0; i < m; ++i) solve(n, transposed(op_a), !lower, unit, [&](i64 j) -> E& { return b[i + j * ldb]; });
}
template <class E>
static cublasStatus_t multiply_triangular(cublasSideMode_t side, cublasFillMode_t f, cublasOperation_t o,
                                          cublasDiagType_t d, i64 m, i64 n, known<E> alpha, const E* a, i64 lda,
                                          const E* b, i64 ldb, E* c, i64 ldc) {
  std::vector<E> copy(static_cast<std::size_t>(m * n));
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i) copy[static_cast<std::size_t>(i + j * m)] = b[i + j * ldb];
  return on_side(side, m, n, alpha, apply_op(o, triangular(full(a, lda), is_lower(f), d == CUBLAS_DIAG_UNIT)),
                 general(full(static_cast<const E*>(copy.data()), m)), known<E>{E(0), true}, c, ldc);
}
// C = alpha * op(A) + beta * op(B); C may be A or B.
template <class E>
static cublasStatus_t add_matrices(cublasOperation_t oa, cublasOperation_t ob, i64 m, i64 n, known<E> alpha, const E* a,
                                   i64 lda, known<E> beta, const E* b, i64 ldb, E* c, i64 ldc) {
  const auto op_a = apply_op(oa, general(full(a, lda))), op_b = apply_op(ob, general(full(b, ldb)));
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i) {
      if (!alpha.to_host || !beta.to_host) wrong("a factor is in memory; geam needs both on the host");
      E sum(0);
      if (alpha.value != E(0)) sum += times(alpha.value, op_a(i, j));
      if (beta.value != E(0)) sum += times(beta.value, op_b(i, j));
      c[i + j * ldc] = sum;
    }
  DONE;
}

#define FAKE_SYMM(NAME, V, HERMITIAN)                                                                               \
  FAKE(NAME, cublasSideMode_t s, cublasFillMode_t f, i64 m, i64 n, const V* alpha, const V* a, i64 lda, const V* b, \
       i64 ldb, const V* beta, V* c, i64 ldc) {                                                                     \
    return on_side(s, m, n, known_factor(h, alpha), symmetric<HERMITIAN>(full(as(a), lda), is_lower(f)),            \
                   general(full(as(b), ldb)), known_factor(h, beta), as(c), ldc);                                   \
  }
#define FAKE_RANK_K(NAME, V, F, HERMITIAN)                                                               \
  FAKE(NAME, cublasFillMode_t f, cublasOperation_t o, i64 n, i64 k, const F* alpha, const V* a, i64 lda, \
       const F* beta, V* c, i64 ldc) {                                                                   \
    return update_triangle<HERMITIAN>(f, o, n, k, known_factor(h, alpha), as(a), lda, as(a), lda,        \
                                      known_factor(h, beta), as(c), ldc);                                \
  }
#define FAKE_TWO(NAME, V, F, HERMITIAN, FUNCTION)                                                                    \
  FAKE(NAME, cublasFillMode_t f, cublasOperation_t o, i64 n, i64 k, const V* alpha, const V* a, i64 lda, const V* b, \
       i64 ldb, const F* beta, V* c, i64 ldc) {                                                                      \
    return FUNCTION<HERMITIAN>(f, o, n, k, known_factor(h, alpha), as(a), lda, as(b), ldb, known_factor(h, beta),    \
                               as(c), ldc);                                                                          \
  }
#define FAKE_LEVEL3(P, V)                                                                                           \
  FAKE_SYMM(cublas##P##symm_64, V, false)                                                                           \
  FAKE_RANK_K(cublas##P##syrk_64, V, V, false)                                                                      \
  FAKE_TWO(cublas##P##syr2k_64, V, V, false, update_triangle_twice)                                                 \
  FAKE_TWO(cublas##P##syrkx_64, V, V, false, update_triangle)                                                       \
  FAKE(cublas##P##trmm_64, cublasSideMode_t s, cublasFillMode_t f, cublasOperation_t o, cublasDiagType_t d, i64 m,  \
       i64 n, const V* alpha, const V* a, i64 lda, const V* b, i64 ldb, V* c, i64 ldc) {                            \
    return multiply_triangular(s, f, o, d, m, n, known_factor(h, alpha), as(a), lda, as(b), ldb, as(c), ldc);       \
  }                                                                                                                 \
  FAKE(cublas##P##trsm_64, cublasSideMode_t s, cublasFillMode_t f, cublasOperation_t o, cublasDiagType_t d, i64 m,  \
       i64 n, const V* alpha, const V* a, i64 lda, V* b, i64 ldb) {                                                 \
    solve_matrix(s, f, o, d, m, n, known_factor(h, alpha), as(a), lda, as(b), ldb);                                 \
    DONE;                                                                                                           \
  }                                                                                                                 \
  FAKE(cublas##P##geam_64, cublasOperation_t oa, cublasOperation_t ob, i64 m, i64 n, const V* alpha, const V* a,    \
       i64 lda, const V* beta, const V* b, i64 ldb, V* c, i64 ldc) {                                                \
    return add_matrices(oa, ob, m, n, known_factor(h, alpha), as(a), lda, known_factor(h, beta), as(b), ldb, as(c), \
                        ldc);                                                                                       \
  }                                                                                                                 \
  FAKE(cublas##P##gemvBatched_64, cublasOperation_t o, i64 m, i64 n, const V* alpha, const V* const* a, i64 lda,    \
       const V* const* x, i64 incx, const V* beta, V* const* y, i64 incy, i64 count) {                              \
    if (incx < 0 || incy < 0) wrong("batches of gemv need positive increments");                                    \
    (void)list(a), (void)list(x), (void)list(y);                                                                    \
    for (i64 i = 0; i < count; ++i)                                                                                 \
      (void)cublas##P##gemv_64(h, o, m, n, alpha, a[i], lda, x[i], incx, beta, y[i], incy);                         \
    DONE;                                                                                                           \
  }                                                                                                                 \
  FAKE(cublas##P##gemvStridedBatched_64, cublasOperation_t o, i64 m, i64 n, const V* alpha, const V* a, i64 lda,    \
       long long stride_a, const V* x, i64 incx, long long stride_x, const V* beta, V* y, i64 incy,                 \
       long long stride_y, i64 count) {                                                                             \
    if (incx < 0 || incy < 0) wrong("batches of gemv need positive increments");                                    \
    for (i64 i = 0; i < count; ++i)                                                                                 \
      (void)cublas##P##gemv_64(h, o, m, n, alpha, a + i * stride_a, lda, x + i * stride_x, incx, beta,              \
                               y + i * stride_y, incy);                                                             \
    DONE;                                                                                                           \
  }                                                                                                                 \
  FAKE(cublas##P##trsmBatched_64, cublasSideMode_t s, cublasFillMode_t f, cublasOperation_t o, cublasDiagType_t d,  \
       i64 m, i64 n, const V* alpha, const V* const* a, i64 lda, V* const* b, i64 ldb, i64 count) {                 \
    for (i64 i = 0; i < count; ++i)                                                                                 \
      solve_matrix(s, f, o, d, m, n, known_factor(h, alpha), list(a)[i], lda, list(b)[i], ldb);                     \
    DONE;                                                                                                           \
  }
#define FAKE_LEVEL3_COMPLEX(P, V, R)                               \
  FAKE_LEVEL3(P, V)                                                \
  FAKE_SYMM(cublas##P##hemm_64, V, true)                           \
  FAKE_RANK_K(cublas##P##herk_64, V, R, true)                      \
  FAKE_TWO(cublas##P##her2k_64, V, R, true, update_triangle_twice) \
  FAKE_TWO(cublas##P##herkx_64, V, R, true, update_triangle)

FAKE_LEVEL3(S, float)
FAKE_LEVEL3(D, double)
FAKE_LEVEL3_COMPLEX(C, cuComplex, float)
FAKE_LEVEL3_COMPLEX(Z, cuDoubleComplex, double)
