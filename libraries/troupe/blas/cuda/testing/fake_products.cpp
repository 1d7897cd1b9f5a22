// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// GemmEx and its batches.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>
#include <troupe/blas/cuda/testing/fake_handle.hpp>

using namespace troupe::blas::testing;

namespace {

struct product {
  cublasOperation_t op_a, op_b;
  i64 m, n, k;
  const void *alpha, *a;
  i64 lda;
  const void* b;
  i64 ldb;
  const void* beta;
  void* c;
  i64 ldc;
};
struct kinds {
  cudaDataType a, b, c;
  cublasComputeType_t compute;
};

// Computes products of elements T, with results of type C and sums of type S.
template <class T, class C, class S>
cublasStatus_t run(const product& p, bool known_to_host) {
  const auto* const a = static_cast<const T*>(p.a);
  const auto* const b = static_cast<const T*>(p.b);
  auto* const c = static_cast<C*>(p.c);
  const S alpha = *static_cast<const S*>(p.alpha), beta = *static_cast<const S*>(p.beta);
  const auto op_a = apply_op(p.op_a, [=, &p](i64 i, i64 j) { return static_cast<S>(a[i + j * p.lda]); });
  const auto op_b = apply_op(p.op_b, [=, &p](i64 i, i64 j) { return static_cast<S>(b[i + j * p.ldb]); });
  const bool multiplies = !known_to_host || alpha != S(0);
  for (i64 j = 0; j < p.n; ++j)
    for (i64 i = 0; i < p.m; ++i) {
      C& place = c[i + j * p.ldc];
      S sum{}, out{};
      for (i64 l = 0; l < p.k && multiplies; ++l) sum += times(op_a(i, l), op_b(l, j));
      if (multiplies) out = times(alpha, sum);
      if (beta != S(0)) out += times(beta, static_cast<S>(place));
      place = static_cast<C>(out);
    }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t run_kind(cublasHandle_t h, const kinds& k, const product& p) {
  const bool host = h->scalars_in == CUBLAS_POINTER_MODE_HOST;
  if (k.a != k.b) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (h->scalars_in == CUBLAS_POINTER_MODE_DEVICE && (is_on_this_stack(p.alpha) || is_on_this_stack(p.beta)))
    wrong("it reads a factor from a stack");
  if (k.c == CUDA_C_64F && reinterpret_cast<std::uintptr_t>(p.alpha) % alignof(cuDoubleComplex) != 0)
    wrong("a factor is misaligned for its type");
  if (is_on_this_stack(p.a) || is_on_this_stack(p.b) || is_on_this_stack(p.c)) wrong("it reads a matrix from a stack");
  const bool any_float = k.compute == CUBLAS_COMPUTE_32F || k.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
                         k.compute == CUBLAS_COMPUTE_32F_FAST_16F || k.compute == CUBLAS_COMPUTE_32F_FAST_16BF;
  const auto is = [&](cudaDataType t, cudaDataType c) { return k.a == t && k.c == c; };
  if (any_float && is(CUDA_R_32F, CUDA_R_32F)) return run<float, float, float>(p, host);
  if (any_float && is(CUDA_C_32F, CUDA_C_32F))
    return run<std::complex<float>, std::complex<float>, std::complex<float>>(p, host);
  if (k.compute == CUBLAS_COMPUTE_64F && is(CUDA_R_64F, CUDA_R_64F)) return run<double, double, double>(p, host);
  if (k.compute == CUBLAS_COMPUTE_64F && is(CUDA_C_64F, CUDA_C_64F))
    return run<std::complex<double>, std::complex<double>, std::complex<double>>(p, host);
  if (k.a == CUDA_R_8I && (p.lda % 4 != 0 || p.ldb % 4 != 0 || reinterpret_cast<std::uintptr_t>(p.a) % 4 != 0 ||
                           reinterpret_cast<std::uintptr_t>(p.b) % 4 != 0))
    wrong("a matrix of int8 is not aligned");
  if (k.compute == CUBLAS_COMPUTE_32I && is(CUDA_R_8I, CUDA_R_32I))
    return run<std::int8_t, std::int32_t, std::int32_t>(p, host);
  if (k.compute != CUBLAS_COMPUTE_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  using troupe::bfloat16;
  using troupe::half;
  if (is(CUDA_R_16F, CUDA_R_16F)) return run<half, half, float>(p, host);
  if (is(CUDA_R_16F, CUDA_R_32F)) return run<half, float, float>(p, host);
  if (is(CUDA_R_16BF, CUDA_R_16BF)) return run<bfloat16, bfloat16, float>(p, host);
  if (is(CUDA_R_16BF, CUDA_R_32F)) return run<bfloat16, float, float>(p, host);
  if (is(CUDA_R_8I, CUDA_R_32F)) return run<std::int8_t, float, float>(p, host);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

std::size_t size_of(cudaDataType t) {
  switch (t) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 4;
  }
}
std::size_t size_of_factor(cublasComputeType_t compute, cudaDataType c) {
  return compute == CUBLAS_COMPUTE_64F || c == CUDA_C_32F ? size_of(c) : 4;
}
template <class V>
V* moved(V* p, i64 elements, cudaDataType t) {
  using byte = std::conditional_t<std::is_const_v<V>, const char, char>;
  return static_cast<byte*>(p) + elements * static_cast<i64>(size_of(t));
}

}  // namespace

cublasStatus_t cublasGemmEx_64(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, i64 m, i64 n, i64 k,
                               const void* alpha, const void* a, cudaDataType type_a, i64 lda, const void* b,
                               cudaDataType type_b, i64 ldb, const void* beta, void* c, cudaDataType type_c, i64 ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t) {
  return run_kind(h, {type_a, type_b, type_c, compute}, {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

cublasStatus_t cublasGemmBatchedEx_64(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, i64 m, i64 n,
                                      i64 k, const void* alpha, const void* const a[], cudaDataType type_a, i64 lda,
                                      const void* const b[], cudaDataType type_b, i64 ldb, const void* beta,
                                      void* const c[], cudaDataType type_c, i64 ldc, i64 count,
                                      cublasComputeType_t compute, cublasGemmAlgo_t) {
  must_be_pinned(a), must_be_pinned(b), must_be_pinned(c);
  cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
  for (i64 i = 0; i < count && s == CUBLAS_STATUS_SUCCESS; ++i)
    s = run_kind(h, {type_a, type_b, type_c, compute},
                 {op_a, op_b, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc});
  return s;
}

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, i64 m,
                                             i64 n, i64 k, const void* alpha, const void* a, cudaDataType type_a,
                                             i64 lda, long long stride_a, const void* b, cudaDataType type_b, i64 ldb,
                                             long long stride_b, const void* beta, void* c, cudaDataType type_c,
                                             i64 ldc, long long stride_c, i64 count, cublasComputeType_t compute,
                                             cublasGemmAlgo_t) {
  cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
  for (i64 i = 0; i < count && s == CUBLAS_STATUS_SUCCESS; ++i)
    s = run_kind(h, {type_a, type_b, type_c, compute},
                 {op_a, op_b, m, n, k, alpha, moved(a, i * stride_a, type_a), lda, moved(b, i * stride_b, type_b), ldb,
                  beta, moved(c, i * stride_c, type_c), ldc});
  return s;
}

cublasStatus_t cublasGemmGroupedBatchedEx_64(cublasHandle_t h, const cublasOperation_t op_a[],
                                             const cublasOperation_t op_b[], const i64 m[], const i64 n[],
                                             const i64 k[], const void* alpha, const void* const a[],
                                             cudaDataType type_a, const i64 lda[], const void* const b[],
                                             cudaDataType type_b, const i64 ldb[], const void* beta, void* const c[],
                                             cudaDataType type_c, const i64 ldc[], i64 groups, const i64 counts[],
                                             cublasComputeType_t compute) {
  if (h->scalars_in != CUBLAS_POINTER_MODE_HOST) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (type_a != type_c || type_a == CUDA_C_32F || type_a == CUDA_C_64F) return CUBLAS_STATUS_NOT_SUPPORTED;
  must_be_pinned(a), must_be_pinned(b), must_be_pinned(c);
  const std::size_t bytes = size_of_factor(compute, type_c);
  i64 next = 0;
  cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
  for (i64 g = 0; g < groups; ++g)
    for (i64 i = 0; i < counts[g] && s == CUBLAS_STATUS_SUCCESS; ++i, ++next)
      s = run_kind(h, {type_a, type_b, type_c, compute},
                   {op_a[g], op_b[g], m[g], n[g], k[g],
                    static_cast<const char*>(alpha) + bytes * static_cast<std::size_t>(g), a[next], lda[g], b[next],
                    ldb[g], static_cast<const char*>(beta) + bytes * static_cast<std::size_t>(g), c[next], ldc[g]});
  return s;
}
