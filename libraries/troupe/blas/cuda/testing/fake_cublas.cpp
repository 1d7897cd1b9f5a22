// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Level 1, and the handle.
#include <troupe/blas/cuda/testing/fake_handle.hpp>
#include <utility>

using namespace troupe::blas::testing;

#define FAKE(NAME, ...) cublasStatus_t NAME(cublasHandle_t h, __VA_ARGS__)
#define DONE return CUBLAS_STATUS_SUCCESS

cublasStatus_t cublasCreate(cublasHandle_t* out) { return *out = new cublasContext, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasDestroy(cublasHandle_t h) { return delete h, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetVersion(cublasHandle_t, int* out) { return *out = CUBLAS_VERSION, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { DONE; }
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { DONE; }
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { DONE; }
cublasStatus_t cublasSetPointerMode(cublasHandle_t h, cublasPointerMode_t m) {
  return h->scalars_in = m, CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS"; }

#define FAKE_LEVEL1(P, V)                                                                           \
  FAKE(cublas##P##axpy_64, i64 n, const V* alpha, const V* x, i64 incx, V* y, i64 incy) {           \
    const auto a = factor(h, alpha);                                                                \
    for (i64 i = 0; i < n; ++i) element(as(y), n, incy, i) += times(a, element(as(x), n, incx, i)); \
    DONE;                                                                                           \
  }                                                                                                 \
  FAKE(cublas##P##scal_64, i64 n, const V* alpha, V* x, i64 incx) {                                 \
    const auto a = factor(h, alpha);                                                                \
    for (i64 i = 0; i < n; ++i) element(as(x), n, incx, i) = times(a, element(as(x), n, incx, i));  \
    DONE;                                                                                           \
  }                                                                                                 \
  FAKE(cublas##P##copy_64, i64 n, const V* x, i64 incx, V* y, i64 incy) {                           \
    (void)h;                                                                                        \
    const int status = driver().called("cublas" #P "copy_64", n, incx, incy);                       \
    if (status != 0) return static_cast<cublasStatus_t>(status);                                    \
    for (i64 i = 0; i < n; ++i) element(as(y), n, incy, i) = element(as(x), n, incx, i);            \
    DONE;                                                                                           \
  }                                                                                                 \
  FAKE(cublas##P##swap_64, i64 n, V* x, i64 incx, V* y, i64 incy) {                                 \
    (void)h;                                                                                        \
    for (i64 i = 0; i < n; ++i) std::swap(element(as(y), n, incy, i), element(as(x), n, incx, i));  \
    DONE;                                                                                           \
  }
#define FAKE_DOT(NAME, V, CONJUGATED)                                           \
  FAKE(NAME, i64 n, const V* x, i64 incx, const V* y, i64 incy, V* result) {    \
    must_answer_on_device(h);                                                   \
    std::remove_cvref_t<decltype(*as(result))> sum{};                           \
    for (i64 i = 0; i < n; ++i) {                                               \
      const auto v = element(as(x), n, incx, i);                                \
      sum += times(CONJUGATED ? conjugated(v) : v, element(as(y), n, incy, i)); \
    }                                                                           \
    *as(result) = sum;                                                          \
    DONE;                                                                       \
  }
#define FAKE_ASUM(NAME, V, R)                                 \
  FAKE(NAME, i64 n, const V* x, i64 incx, R* result) {        \
    must_answer_on_device(h);                                 \
    R sum = 0;                                                \
    for (i64 i = 0; i < n; ++i) {                             \
      const auto v = as(x)[i * incx];                         \
      sum += std::abs(std::real(v)) + std::abs(std::imag(v)); \
    }                                                         \
    *result = sum;                                            \
    DONE;                                                     \
  }
#define FAKE_ROT(NAME, V, R, S)                                               \
  FAKE(NAME, i64 n, V* x, i64 incx, V* y, i64 incy, const R* c, const S* s) { \
    using E = element_type<V>::type;                                          \
    const E cosine(factor(h, c)), sine(factor(h, s));                         \
    for (i64 i = 0; i < n; ++i) {                                             \
      E &a = element(as(x), n, incx, i), &b = element(as(y), n, incy, i);     \
      const E old = a;                                                        \
      a = times(cosine, a) + times(sine, b);                                  \
      b = times(cosine, b) - times(conjugated(sine), old);                    \
    }                                                                         \
    DONE;                                                                     \
  }
#define FAKE_REAL_SCAL(NAME, V, R)                    \
  FAKE(NAME, i64 n, const R* alpha, V* x, i64 incx) { \
    const R a = factor(h, alpha);                     \
    for (i64 i = 0; i < n; ++i) as(x)[i * incx] *= a; \
    DONE;                                             \
  }
#define FAKE_ROTM(NAME, R)                                                                                   \
  FAKE(NAME, i64 n, R* x, i64 incx, R* y, i64 incy, const R* param) {                                        \
    (void)factor(h, param);                                                                                  \
    const R flag = param[0];                                                                                 \
    if (flag != -2 && flag != -1 && flag != 0 && flag != 1) wrong("a flag is unknown");                      \
    if (flag == -2) DONE;                                                                                    \
    const R h11 = flag == 0 ? 1 : param[1], h21 = flag == 1 ? -1 : param[2], h12 = flag == 1 ? 1 : param[3], \
            h22 = flag == 0 ? 1 : param[4];                                                                  \
    for (i64 i = 0; i < n; ++i) {                                                                            \
      R &a = element(x, n, incx, i), &b = element(y, n, incy, i);                                            \
      const R old = a;                                                                                       \
      a = h11 * a + h12 * b;                                                                                 \
      b = h21 * old + h22 * b;                                                                               \
    }                                                                                                        \
    DONE;                                                                                                    \
  }

FAKE_LEVEL1(S, float)
FAKE_LEVEL1(D, double)
FAKE_LEVEL1(C, cuComplex)
FAKE_LEVEL1(Z, cuDoubleComplex)
FAKE_DOT(cublasSdot_64, float, false)
FAKE_DOT(cublasDdot_64, double, false)
FAKE_DOT(cublasCdotu_64, cuComplex, false)
FAKE_DOT(cublasCdotc_64, cuComplex, true)
FAKE_DOT(cublasZdotu_64, cuDoubleComplex, false)
FAKE_DOT(cublasZdotc_64, cuDoubleComplex, true)
FAKE_ASUM(cublasSasum_64, float, float)
FAKE_ASUM(cublasDasum_64, double, double)
FAKE_ASUM(cublasScasum_64, cuComplex, float)
FAKE_ASUM(cublasDzasum_64, cuDoubleComplex, double)
FAKE_ROT(cublasSrot_64, float, float, float)
FAKE_ROT(cublasDrot_64, double, double, double)
FAKE_ROT(cublasCrot_64, cuComplex, float, cuComplex)
FAKE_ROT(cublasZrot_64, cuDoubleComplex, double, cuDoubleComplex)
FAKE_ROT(cublasCsrot_64, cuComplex, float, float)
FAKE_ROT(cublasZdrot_64, cuDoubleComplex, double, double)
FAKE_REAL_SCAL(cublasCsscal_64, cuComplex, float)
FAKE_REAL_SCAL(cublasZdscal_64, cuDoubleComplex, double)
FAKE_ROTM(cublasSrotm_64, float)
FAKE_ROTM(cublasDrotm_64, double)
