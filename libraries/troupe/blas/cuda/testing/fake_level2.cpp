// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Level 2.
#include <troupe/blas/cuda/testing/fake_handle.hpp>
#include <vector>

using namespace troupe::blas::testing;

#define FAKE(NAME, ...) cublasStatus_t NAME(cublasHandle_t h, __VA_ARGS__)
#define DONE return CUBLAS_STATUS_SUCCESS

// y = alpha * A * x + beta * y, where a(i, j) returns an element of A.
template <class V, class A>
static cublasStatus_t apply(cublasHandle_t h, i64 m, i64 n, const V* alpha, A a, const V* x, i64 incx, const V* beta,
                            V* y, i64 incy) {
  multiply<typename element_type<V>::type>(
      m, 1, n, known_factor(h, alpha), a, [&](i64 i, i64) { return element(as(x), n, incx, i); }, known_factor(h, beta),
      [&](i64 i, i64) { return &element(as(y), m, incy, i); }, everywhere());
  DONE;
}
template <class V, class A>
static cublasStatus_t apply(cublasHandle_t h, cublasOperation_t o, i64 m, i64 n, const V* alpha, A a, const V* x,
                            i64 incx, const V* beta, V* y, i64 incy) {
  return apply(h, o == CUBLAS_OP_N ? m : n, o == CUBLAS_OP_N ? n : m, alpha, apply_op(o, a), x, incx, beta, y, incy);
}
template <class V, class A>
static void multiply_in_place(i64 n, A a, V* x, i64 incx) {
  std::vector<typename element_type<V>::type> out(static_cast<std::size_t>(n));
  for (i64 i = 0; i < n; ++i)
    for (i64 l = 0; l < n; ++l) out[static_cast<std::size_t>(i)] += times(a(i, l), element(as(x), n, incx, l));
  for (i64 i = 0; i < n; ++i) element(as(x), n, incx, i) = out[static_cast<std::size_t>(i)];
}
template <class V, class A>
static void solve_in_place(i64 n, A a, cublasFillMode_t uplo, cublasOperation_t o, cublasDiagType_t d, V* x, i64 incx) {
  solve(n, a, lower_as_seen(uplo, o), d == CUBLAS_DIAG_UNIT,
        [&](i64 i) -> auto& { return element(as(x), n, incx, i); });
}
// A = A + term(i, j) for each element (i, j), in one triangle or everywhere.
template <class S, class T, class W>
static void add_terms(i64 m, i64 n, S at, T term, W wanted) {
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i)
      if (wanted(i, j)) *at(i, j) += term(i, j);
}

#define BANDED(A, K) band(as(A), lda, is_lower(f) ? K : 0, is_lower(f) ? 0 : K)
#define FAKE_TRIANGULAR(P, V, NAME, PARAMETERS, STORAGE)                                                             \
  FAKE(cublas##P##NAME##mv_64, cublasFillMode_t f, cublasOperation_t o, cublasDiagType_t d, i64 n, PARAMETERS, V* x, \
       i64 incx) {                                                                                                   \
    (void)h;                                                                                                         \
    multiply_in_place(n, apply_op(o, triangular(STORAGE, is_lower(f), d == CUBLAS_DIAG_UNIT)), x, incx);             \
    DONE;                                                                                                            \
  }                                                                                                                  \
  FAKE(cublas##P##NAME##sv_64, cublasFillMode_t f, cublasOperation_t o, cublasDiagType_t d, i64 n, PARAMETERS, V* x, \
       i64 incx) {                                                                                                   \
    (void)h;                                                                                                         \
    solve_in_place(n, apply_op(o, triangular(STORAGE, is_lower(f), d == CUBLAS_DIAG_UNIT)), f, o, d, x, incx);       \
    DONE;                                                                                                            \
  }
#define LIST(...) __VA_ARGS__
#define FAKE_SYMMETRIC_MV(NAME, V, HERMITIAN)                                                                     \
  FAKE(NAME, cublasFillMode_t f, i64 n, const V* alpha, const V* a, i64 lda, const V* x, i64 incx, const V* beta, \
       V* y, i64 incy) {                                                                                          \
    return apply(h, n, n, alpha, symmetric<HERMITIAN>(full(as(a), lda), is_lower(f)), x, incx, beta, y, incy);    \
  }
#define FAKE_BAND_MV(NAME, V, HERMITIAN)                                                                   \
  FAKE(NAME, cublasFillMode_t f, i64 n, i64 k, const V* alpha, const V* a, i64 lda, const V* x, i64 incx,  \
       const V* beta, V* y, i64 incy) {                                                                    \
    return apply(h, n, n, alpha, symmetric<HERMITIAN>(BANDED(a, k), is_lower(f)), x, incx, beta, y, incy); \
  }
#define FAKE_PACKED_MV(NAME, V, HERMITIAN)                                                                           \
  FAKE(NAME, cublasFillMode_t f, i64 n, const V* alpha, const V* a, const V* x, i64 incx, const V* beta, V* y,       \
       i64 incy) {                                                                                                   \
    return apply(h, n, n, alpha, symmetric<HERMITIAN>(packed(as(a), n, is_lower(f)), is_lower(f)), x, incx, beta, y, \
                 incy);                                                                                              \
  }
#define X(I) element(as(x), n, incx, I)
#define Y(I) element(as(y), n, incy, I)
#define FAKE_RANK1(NAME, V, F, SECOND, PARAMETERS, STORAGE)                                                           \
  FAKE(NAME, cublasFillMode_t f, i64 n, const F* alpha, const V* x, i64 incx, PARAMETERS) {                           \
    const element_type<V>::type s(factor(h, alpha));                                                                  \
    add_terms(n, n, STORAGE, [&](i64 i, i64 j) { return times(times(s, X(i)), SECOND(X(j))); }, within(is_lower(f))); \
    DONE;                                                                                                             \
  }
#define FAKE_RANK2(NAME, V, SECOND, PARAMETERS, STORAGE)                                                          \
  FAKE(NAME, cublasFillMode_t f, i64 n, const V* alpha, const V* x, i64 incx, const V* y, i64 incy, PARAMETERS) { \
    const auto s = factor(h, alpha);                                                                              \
    add_terms(                                                                                                    \
        n, n, STORAGE,                                                                                            \
        [&](i64 i, i64 j) {                                                                                       \
          return times(times(s, X(i)), SECOND(Y(j))) + times(times(SECOND(s), Y(i)), SECOND(X(j)));               \
        },                                                                                                        \
        within(is_lower(f)));                                                                                     \
    DONE;                                                                                                         \
  }
#define FAKE_GER(NAME, V, SECOND)                                                                               \
  FAKE(NAME, i64 m, i64 n, const V* alpha, const V* x, i64 incx, const V* y, i64 incy, V* a, i64 lda) {         \
    const auto s = factor(h, alpha);                                                                            \
    add_terms(                                                                                                  \
        m, n, full(as(a), lda),                                                                                 \
        [&](i64 i, i64 j) { return times(times(s, element(as(x), m, incx, i)), SECOND(Y(j))); }, everywhere()); \
    DONE;                                                                                                       \
  }
#define AS_IS(v) (v)

#define FAKE_LEVEL2(P, V)                                                                                          \
  FAKE(cublas##P##gemv_64, cublasOperation_t o, i64 m, i64 n, const V* alpha, const V* a, i64 lda, const V* x,     \
       i64 incx, const V* beta, V* y, i64 incy) {                                                                  \
    return apply(h, o, m, n, alpha, general(full(as(a), lda)), x, incx, beta, y, incy);                            \
  }                                                                                                                \
  FAKE(cublas##P##gbmv_64, cublasOperation_t o, i64 m, i64 n, i64 kl, i64 ku, const V* alpha, const V* a, i64 lda, \
       const V* x, i64 incx, const V* beta, V* y, i64 incy) {                                                      \
    return apply(h, o, m, n, alpha, general(band(as(a), lda, kl, ku)), x, incx, beta, y, incy);                    \
  }                                                                                                                \
  FAKE_TRIANGULAR(P, V, tr, LIST(const V* a, i64 lda), full(as(a), lda))                                           \
  FAKE_TRIANGULAR(P, V, tb, LIST(i64 k, const V* a, i64 lda), BANDED(a, k))                                        \
  FAKE_TRIANGULAR(P, V, tp, LIST(const V* a), packed(as(a), n, is_lower(f)))                                       \
  FAKE_SYMMETRIC_MV(cublas##P##symv_64, V, false)                                                                  \
  FAKE_RANK1(cublas##P##syr_64, V, V, AS_IS, LIST(V* a, i64 lda), full(as(a), lda))                                \
  FAKE_RANK2(cublas##P##syr2_64, V, AS_IS, LIST(V* a, i64 lda), full(as(a), lda))
#define FAKE_LEVEL2_REAL(P, V)                                                    \
  FAKE_LEVEL2(P, V)                                                               \
  FAKE_BAND_MV(cublas##P##sbmv_64, V, false)                                      \
  FAKE_PACKED_MV(cublas##P##spmv_64, V, false)                                    \
  FAKE_GER(cublas##P##ger_64, V, AS_IS)                                           \
  FAKE_RANK1(cublas##P##spr_64, V, V, AS_IS, V* a, packed(as(a), n, is_lower(f))) \
  FAKE_RANK2(cublas##P##spr2_64, V, AS_IS, V* a, packed(as(a), n, is_lower(f)))
#define FAKE_LEVEL2_COMPLEX(P, V, R)                                                     \
  FAKE_LEVEL2(P, V)                                                                      \
  FAKE_SYMMETRIC_MV(cublas##P##hemv_64, V, true)                                         \
  FAKE_BAND_MV(cublas##P##hbmv_64, V, true)                                              \
  FAKE_PACKED_MV(cublas##P##hpmv_64, V, true)                                            \
  FAKE_GER(cublas##P##geru_64, V, AS_IS)                                                 \
  FAKE_GER(cublas##P##gerc_64, V, conjugated)                                            \
  FAKE_RANK1(cublas##P##her_64, V, R, conjugated, LIST(V* a, i64 lda), full(as(a), lda)) \
  FAKE_RANK1(cublas##P##hpr_64, V, R, conjugated, V* a, packed(as(a), n, is_lower(f)))   \
  FAKE_RANK2(cublas##P##her2_64, V, conjugated, LIST(V* a, i64 lda), full(as(a), lda))   \
  FAKE_RANK2(cublas##P##hpr2_64, V, conjugated, V* a, packed(as(a), n, is_lower(f)))

FAKE_LEVEL2_REAL(S, float)
FAKE_LEVEL2_REAL(D, double)
FAKE_LEVEL2_COMPLEX(C, cuComplex, float)
FAKE_LEVEL2_COMPLEX(Z, cuDoubleComplex, double)
