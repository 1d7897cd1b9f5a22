// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Fakes of all functions of cuBLASLt but cublasLtMatmul.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <troupe/matmul/cuda/testing/fakes.hpp>

using namespace troupe::matmul::testing;

struct cublasLtContext {};

namespace {

template <class T, class Opaque>
T& as(Opaque* o) {
  return *reinterpret_cast<T*>(o->data);
}

cublasStatus_t put(void* to, std::size_t needs, const void* from, std::size_t has) {
  if (needs != has) return CUBLAS_STATUS_INVALID_VALUE;
  return std::memcpy(to, from, has), CUBLAS_STATUS_SUCCESS;
}

bool is_float8(int t) { return t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2; }
bool is_complex(int t) { return t == CUDA_C_32F || t == CUDA_C_64F; }
int bytes_of(int t) {
  switch (t) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_C_64F:
      return 16;
    default:
      return 8;
  }
}

bool has_types(const product_description& p) {
  const int a = p.a.type, b = p.b.type, d = p.d.type;
  const bool same = a == b && p.c.type == d;
  switch (a) {
    case CUDA_R_32F:
      return same && d == a;
    case CUDA_R_64F:
      return same && d == a && p.what.compute == CUBLAS_COMPUTE_64F;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return same && (d == a || d == CUDA_R_32F);
    case CUDA_R_8I:
      return same && d == CUDA_R_32I && p.what.compute == CUBLAS_COMPUTE_32I;
    case CUDA_C_32F:
    case CUDA_C_64F:
      return same && d == a;
    default:
      break;
  }
  if (!is_float8(a) || !is_float8(b) || (a == CUDA_R_8F_E5M2 && b == a)) return false;
  if (is_float8(d))
    return (p.c.type == CUDA_R_16BF || p.c.type == CUDA_R_16F) &&
           (d == CUDA_R_8F_E4M3 || a == CUDA_R_8F_E5M2 || b == CUDA_R_8F_E5M2);
  return p.c.type == d && (d == CUDA_R_32F || d == CUDA_R_16F || d == CUDA_R_16BF);
}

}  // namespace

namespace troupe::matmul::testing {

bool ignores_alignment_of_d(const product_description& p, const plan_constraints& w) {
  const auto of_lines = [](const layout& l) {
    const std::int64_t bytes = l.ld * bytes_of(l.type) | l.stride * bytes_of(l.type) | 16;
    return bytes & -bytes;
  };
  return of_lines(p.c) > of_lines(p.d) && w.alignment_d > of_lines(p.d);
}

bool is_supported(const product_description& p, const plan_constraints& w) {
  const int a = p.a.type, d = p.d.type;
  const product& what = p.what;
  if (!has_types(p)) return false;
  for (const layout* l : {&p.a, &p.b, &p.c, &p.d})
    if (l->ld < l->rows) return false;
  const bool plain = what.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
  if (!plain && (is_complex(a) || a == CUDA_R_8I)) return false;
  if (is_float8(d) && (what.epilogue & 64) != 0) return false;
  if ((what.epilogue & 20) != 0) {
    const bool other = is_float8(a) && (d == CUDA_R_32F || is_float8(d)) && what.bias_type == CUDA_R_16BF;
    if (what.bias_type != d && !other) return false;
  }
  if ((what.epilogue & 128) != 0 && (what.aux_type != d || what.aux_ld % 8 != 0)) return false;
  const bool scales = what.a_scale != nullptr || what.b_scale != nullptr;
  if (scales && !is_float8(a)) return false;
  if ((what.d_scale != nullptr || what.amax != nullptr) && !is_float8(d)) return false;
  if (what.a_scale_mode != what.b_scale_mode || (what.a_scale_mode != 0 && is_float8(d))) return false;
  const auto is_aligned = [](const layout& l, std::uint32_t alignment, std::uint32_t needs) {
    return alignment % needs == 0 && l.ld * bytes_of(l.type) % needs == 0 && l.stride * bytes_of(l.type) % needs == 0;
  };
  if (is_float8(a))
    return what.transpose_a == CUBLAS_OP_T && what.transpose_b == CUBLAS_OP_N && p.a.rows % 16 == 0 &&
           is_aligned(p.a, w.alignment_a, 16) && is_aligned(p.b, w.alignment_b, 16) &&
           is_aligned(p.d, w.alignment_d, 16) && is_aligned(p.c, w.alignment_c, 16);
  return true;
}

}  // namespace troupe::matmul::testing

cublasStatus_t cublasLtCreate(cublasLtHandle_t* out) { return *out = new cublasLtContext, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) { return delete h, CUBLAS_STATUS_SUCCESS; }
size_t cublasLtGetVersion() {
  return 1;
}  // a version that no real library has, so that no stored plan of one is used by the other
const char* cublasLtGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS"; }

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t d, size_t, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  std::memset(d->data, 0, sizeof d->data);
  auto& p = as<product>(d);
  p.compute = compute, p.scale = scale, p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  p.bias_type = p.aux_type = -1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t size) {
  auto& p = as<product>(d);
  const auto to = [&](auto& member) { return put(&member, sizeof member, value, size); };
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return to(p.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return to(p.transpose_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return to(p.epilogue);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return to(p.numbers_in);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return to(p.bias_type);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return to(p.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return to(p.bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return to(p.aux_ld);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return to(p.aux_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return to(p.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return to(p.aux_stride);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return to(p.a_scale);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return to(p.b_scale);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return to(p.d_scale);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return to(p.amax);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
      return to(p.a_scale_mode);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
      return to(p.b_scale_mode);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return to(p.fast);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return to(p.multiprocessors);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t l, size_t, cudaDataType type, uint64_t rows,
                                                 uint64_t columns, int64_t ld) {
  as<layout>(l) = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), ld, 0, type, 1};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, size_t size) {
  auto& to = as<layout>(l);
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return put(&to.batch, sizeof to.batch, value, size);
  if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return put(&to.stride, sizeof to.stride, value, size);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t p, size_t) {
  as<plan_constraints>(p) = {0, CUBLASLT_REDUCTION_SCHEME_MASK, 256, 256, 256, 256};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t which, const void* value,
                                                    size_t size) {
  auto& w = as<plan_constraints>(p);
  const auto to = [&](auto& member) { return put(&member, sizeof member, value, size); };
  switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return to(w.workspace);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return to(w.reductions);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return to(w.alignment_a);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return to(w.alignment_b);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return to(w.alignment_c);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return to(w.alignment_d);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t what, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t* out, int* found) {
  const product_description p{as<product>(what), as<layout>(a), as<layout>(b), as<layout>(c), as<layout>(d)};
  const plan_constraints& w = as<plan_constraints>(preference);
  if (const int s = driver().called("cublasLtMatmulAlgoGetHeuristic", p.what.compute, static_cast<int>(p.what.fast),
                                    p.what.multiprocessors, w.reductions, w.workspace);
      s != 0)
    return static_cast<cublasStatus_t>(s);
  *found = is_supported(p, w) ? 1 : 0;
  if (*found == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  *found = std::min(most, 3);
  for (int i = 0; i < *found; ++i) {
    out[i] = {};
    out[i].algo.data[0] = fake_algorithm;
    out[i].algo.data[1] = static_cast<std::uint64_t>(i);
    out[i].algo.data[2] = ignores_alignment_of_d(p, w) ? 1 : 0;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t which, void* value,
                                                    size_t size, size_t*) {
  const auto number = which == CUBLASLT_ALGO_CONFIG_ID ? static_cast<std::int32_t>(algorithm->data[1]) : 0;
  return put(value, size, &number, sizeof number);
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t, void* value, size_t size, size_t*) {
  const std::uint32_t needed = algorithm->data[1] == aligned_algorithm ? 16 : 1;
  return put(value, size, &needed, sizeof needed);
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* out) {
  if (const int s = driver().called("cublasLtMatmulAlgoCheck"); s != 0) return static_cast<cublasStatus_t>(s);
  *out = {};
  return algorithm->data[0] == fake_algorithm ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
