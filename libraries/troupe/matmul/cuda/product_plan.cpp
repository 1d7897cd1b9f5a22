// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/try.hpp>
#include <troupe/matmul/cuda/product_plan.hpp>
#include <troupe/matmul/cuda/status.hpp>

namespace troupe::matmul {
namespace {

// Collects the first status that is no success.
class settings {
 public:
  explicit settings(cublasLtMatmulDescOpaque_t& d) noexcept : description_(&d) {}
  template <class V>
  void set(cublasLtMatmulDescAttributes_t which, const V& value) noexcept {
    note(::cublasLtMatmulDescSetAttribute(description_, which, &value, sizeof value));
  }
  void note(cublasStatus_t s) noexcept {
    if (status_ == CUBLAS_STATUS_SUCCESS) status_ = s;
  }
  cublasStatus_t status() const noexcept { return status_; }

 private:
  cublasLtMatmulDesc_t description_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

cublasStatus_t describe(cublasLtMatrixLayoutOpaque_t& out, const product_spec::matrix& m, std::int64_t batch) noexcept {
  cublasStatus_t s =
      ::cublasLtMatrixLayoutInit(&out, static_cast<cudaDataType>(m.type), static_cast<std::uint64_t>(m.rows),
                                 static_cast<std::uint64_t>(m.columns), m.ld);
  if (batch == 1 || s != CUBLAS_STATUS_SUCCESS) return s;
  const auto count = static_cast<std::int32_t>(batch);
  s = ::cublasLtMatrixLayoutSetAttribute(&out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  return ::cublasLtMatrixLayoutSetAttribute(&out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.stride,
                                            sizeof m.stride);
}

// An address of the alignment, which cuBLASLt only looks at.
const void* any_address(std::int64_t alignment) noexcept {
  return reinterpret_cast<const void*>(std::uintptr_t{1} << 30 | static_cast<std::uintptr_t>(alignment));
}

bool has_bias(std::int64_t epilogue) noexcept {
  return (epilogue & (CUBLASLT_EPILOGUE_BIAS | epilogue_part::bias_gradient)) != 0;
}
bool has_aux(std::int64_t epilogue) noexcept { return (epilogue & epilogue_part::aux) != 0; }

struct stored_choice {
  cublasLtMatmulAlgo_t algorithm;
  std::uint64_t workspace;
};

std::string key_on_disk(const product_spec& s, std::string_view chip) {
  std::string key = "troupe matmul 1 ";
  key.append(chip).append(1, '\0').append(reinterpret_cast<const char*>(&s), sizeof s);
  return key;
}

}  // namespace

cudaDataType type_of(dtype t) noexcept {
  switch (t) {
    case dtype::f16:
      return CUDA_R_16F;
    case dtype::bf16:
      return CUDA_R_16BF;
    case dtype::f8e4m3:
      return CUDA_R_8F_E4M3;
    case dtype::f8e5m2:
      return CUDA_R_8F_E5M2;
    case dtype::f64:
      return CUDA_R_64F;
    case dtype::c64:
      return CUDA_C_32F;
    case dtype::c128:
      return CUDA_C_64F;
    case dtype::i8:
      return CUDA_R_8I;
    case dtype::i32:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

cublasStatus_t product_plan::describe(const product_spec& s) noexcept {
  settings to(product_);
  to.note(::cublasLtMatmulDescInit(&product_, static_cast<cublasComputeType_t>(s.compute),
                                   static_cast<cudaDataType>(s.scale)));
  const std::int32_t transpose_a = s.transpose_a != 0 ? CUBLAS_OP_T : CUBLAS_OP_N,
                     transpose_b = s.transpose_b != 0 ? CUBLAS_OP_T : CUBLAS_OP_N;
  to.set(CUBLASLT_MATMUL_DESC_TRANSA, transpose_a);
  to.set(CUBLASLT_MATMUL_DESC_TRANSB, transpose_b);
  to.set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(s.epilogue));
  if (s.numbers_in_memory != 0)
    to.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<std::int32_t>(CUBLASLT_POINTER_MODE_DEVICE));
  if (has_bias(s.epilogue)) {
    to.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(s.bias_type));
    to.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, any_address(s.bias_alignment));
    if (s.batch > 1) to.set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, s.bias_stride);
  }
  if (has_aux(s.epilogue)) {
    to.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.aux_ld);
    to.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, static_cast<std::int32_t>(s.aux_type));
    to.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, any_address(s.aux_alignment));
    if (s.batch > 1) to.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, s.aux_stride);
  }
  const void* const scale = any_address(16);
  if ((s.scales & s.scales_a) != 0) to.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
  if ((s.scales & s.scales_b) != 0) to.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
  if ((s.scales & s.scales_d) != 0) to.set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scale);
  if ((s.scales & s.finds_largest) != 0) to.set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, scale);
  if (s.a_scale_mode != 0) to.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, static_cast<std::int32_t>(s.a_scale_mode));
  if (s.b_scale_mode != 0) to.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, static_cast<std::int32_t>(s.b_scale_mode));
  if (s.fast_accumulation != 0) to.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  if (s.multiprocessors != 0)
    to.set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, static_cast<std::int32_t>(s.multiprocessors));
  to.note(matmul::describe(a_, s.a, s.batch));
  to.note(matmul::describe(b_, s.b, s.batch));
  to.note(matmul::describe(c_, s.c, s.batch));
  to.note(matmul::describe(d_, s.d, s.batch));
  return to.status();
}

// Uses the choice of an earlier process, if cuBLASLt still accepts it.
bool product_plan::use_stored(cublasLtHandle_t library, plan::disk_cache& disk, const std::string& key) {
  std::string why_not;
  const auto found = disk.find(key, why_not);
  if (!found || found->value.size() != sizeof(stored_choice)) return false;
  stored_choice choice;
  std::memcpy(&choice, found->value.data(), sizeof choice);
  cublasLtMatmulHeuristicResult_t checked{};
  if (::cublasLtMatmulAlgoCheck(library, &product_, &a_, &b_, &c_, &d_, &choice.algorithm, &checked) !=
          CUBLAS_STATUS_SUCCESS ||
      checked.workspaceSize > choice.workspace)
    return false;
  algorithm_ = choice.algorithm, workspace_ = choice.workspace;
  return true;
}

result<std::optional<product_plan>> product_plan::make(cublasLtHandle_t library, const product_spec& s,
                                                       plan::disk_cache* disk, std::string_view chip) {
  product_plan out;
  if (const cublasStatus_t status = out.describe(s); status != CUBLAS_STATUS_SUCCESS)
    return failed("cublasLtMatmulDescSetAttribute", status);
  const std::string key = key_on_disk(s, chip);
  if (disk != nullptr && out.use_stored(library, *disk, key)) {
    out.from_disk_ = true;
    return std::optional(out);
  }
  cublasLtMatmulPreferenceOpaque_t wishes;
  cublasStatus_t status = ::cublasLtMatmulPreferenceInit(&wishes);
  const auto wish = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = ::cublasLtMatmulPreferenceSetAttribute(&wishes, which, &value, sizeof value);
  };
  wish(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(s.workspace));
  wish(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(s.reductions));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(s.a.alignment));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(s.b.alignment));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(s.c.alignment));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(s.d.alignment));
  if (status != CUBLAS_STATUS_SUCCESS) return failed("cublasLtMatmulPreferenceSetAttribute", status);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  status = ::cublasLtMatmulAlgoGetHeuristic(library, &out.product_, &out.a_, &out.b_, &out.c_, &out.d_, &wishes, 1,
                                            &best, &found);
  // It calls a combination that it does not have invalid, too.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
      (status == CUBLAS_STATUS_SUCCESS && (found == 0 || best.state != CUBLAS_STATUS_SUCCESS)))
    return std::optional<product_plan>();
  if (status != CUBLAS_STATUS_SUCCESS) return failed("cublasLtMatmulAlgoGetHeuristic", status);
  out.algorithm_ = best.algo, out.workspace_ = best.workspaceSize;
  if (disk != nullptr) {
    const stored_choice choice{out.algorithm_, out.workspace_};
    (void)disk->store(key, {}, {reinterpret_cast<const char*>(&choice), sizeof choice});
  }
  return std::optional(out);
}

cublasStatus_t product_plan::enqueue(cublasLtHandle_t library, const product_arguments& a, void* workspace,
                                     CUstream stream) const noexcept {
  // Its description with the addresses of this call. The struct is cuBLASLt's, made to be copied.
  cublasLtMatmulDescOpaque_t product = product_;
  settings to(product);
  const auto place = [&to](cublasLtMatmulDescAttributes_t which, const void* address) {
    if (address != nullptr) to.set(which, address);
  };
  place(CUBLASLT_MATMUL_DESC_BIAS_POINTER, a.bias);
  place(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, a.aux);
  place(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a.a_scale);
  place(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, a.b_scale);
  place(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, a.d_scale);
  place(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, a.amax);
  if (to.status() != CUBLAS_STATUS_SUCCESS) return to.status();
  auto layout = [](const cublasLtMatrixLayoutOpaque_t& l) { return const_cast<cublasLtMatrixLayoutOpaque_t*>(&l); };
  return ::cublasLtMatmul(library, &product, a.alpha, a.a, layout(a_), a.b, layout(b_), a.beta, a.c, layout(c_), a.d,
                          layout(d_), &algorithm_, workspace, workspace_, stream);
}

}  // namespace troupe::matmul
