// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/containers/value_for.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/matmul/cuda/product_plan.hpp>
#include <troupe/matmul/cuda/status.hpp>

namespace troupe::matmul {
namespace {

// Sets attributes of a cuBLASLt description. Remembers the status of the first call that failed.
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

// Returns an address with this alignment. cuBLASLt reads the alignment of an address, but no memory.
const void* any_address(std::int64_t alignment) noexcept {
  return reinterpret_cast<const void*>(std::uintptr_t{1} << 30 | static_cast<std::uintptr_t>(alignment));
}

bool has_bias(std::int64_t epilogue) noexcept {
  return (epilogue & (CUBLASLT_EPILOGUE_BIAS | epilogue_part::bias_gradient)) != 0;
}
bool has_aux(std::int64_t epilogue) noexcept { return (epilogue & epilogue_part::aux) != 0; }

std::string key_on_disk(const product_spec& s, std::string_view gpu_name) {
  std::string key = "troupe matmul 2 ";
  key.append(gpu_name).append(1, '\0').append(reinterpret_cast<const char*>(&s), sizeof s);
  return key;
}

}  // namespace

cudaDataType type_of(dtype t) noexcept {
  static constexpr std::pair<dtype, cudaDataType> types[] = {
      {dtype::f16, CUDA_R_16F},        {dtype::bf16, CUDA_R_16BF}, {dtype::f8e4m3, CUDA_R_8F_E4M3},
      {dtype::f8e5m2, CUDA_R_8F_E5M2}, {dtype::f64, CUDA_R_64F},   {dtype::c64, CUDA_C_32F},
      {dtype::c128, CUDA_C_64F},       {dtype::i8, CUDA_R_8I},     {dtype::i32, CUDA_R_32I}};
  return value_for(t, types, CUDA_R_32F);
}

number number_of(double x, dtype sums) noexcept {
  number out{};
  const auto put = [&](auto v) { std::memcpy(out.value, &v, sizeof v); };
  switch (sums) {
    case dtype::f64:
    case dtype::c128:
      put(x);
      break;
    case dtype::i32:
      put(static_cast<std::int32_t>(x));
      break;
    default:
      put(static_cast<float>(x));
  }
  return out;
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
  c_is_like_d_ = s.c.type == s.d.type;
  return to.status();
}

// Takes over the algorithm `c` and returns true if the algorithm computes this product within the workspace limit, with
// operands of this alignment.
bool product_plan::accepts(cublasLtHandle_t library, const choice& c, const product_spec& s) noexcept {
  if (c.library() != ::cublasLtGetVersion()) return false;
  std::memcpy(&algorithm_, c.words.data(), sizeof algorithm_);
  cublasLtMatmulHeuristicResult_t checked{};
  if (::cublasLtMatmulAlgoCheck(library, &product_, &a_, &b_, &c_, &d_, &algorithm_, &checked) != CUBLAS_STATUS_SUCCESS)
    return false;
  const auto allows = [this](cublasLtMatmulAlgoCapAttributes_t which, const product_spec::matrix& m) {
    std::uint32_t needed = 0;
    std::size_t written = 0;
    return ::cublasLtMatmulAlgoCapGetAttribute(&algorithm_, which, &needed, sizeof needed, &written) !=
               CUBLAS_STATUS_SUCCESS ||
           needed <= m.alignment;
  };
  if (!allows(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, s.a) || !allows(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, s.b) ||
      !allows(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, s.c) || !allows(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, s.d))
    return false;
  workspace_ = std::max<std::uint64_t>(checked.workspaceSize, c.words[8]);
  return workspace_ <= static_cast<std::uint64_t>(s.workspace);
}

std::optional<product_plan> product_plan::stored(cublasLtHandle_t library, const product_spec& s,
                                                 plan::kept_choices& kept, std::string_view gpu_name) {
  const auto c = kept.find_value<choice>(key_on_disk(s, gpu_name));
  if (!c) return std::nullopt;
  product_plan out;
  if (out.describe(s) == CUBLAS_STATUS_SUCCESS && out.accepts(library, *c, s)) return out;
  kept.report_unusable("cuBLASLt does not accept it");
  return std::nullopt;
}

void product_plan::store(plan::kept_choices& kept, const product_spec& s, std::string_view gpu_name) const {
  kept.keep_value(key_on_disk(s, gpu_name), chosen());
}

result<std::optional<product_plan>> product_plan::from(cublasLtHandle_t library, const product_spec& s,
                                                       const choice& c) {
  product_plan out;
  if (const cublasStatus_t status = out.describe(s); status != CUBLAS_STATUS_SUCCESS)
    return failed("cublasLtMatmulDescSetAttribute", status);
  if (!out.accepts(library, c, s)) return std::optional<product_plan>();
  return std::optional(out);
}

choice product_plan::chosen() const noexcept {
  choice out;
  static_assert(sizeof algorithm_ == 8 * sizeof(std::uint64_t));
  std::memcpy(out.words.data(), &algorithm_, sizeof algorithm_);
  out.words[8] = workspace_, out.words[9] = ::cublasLtGetVersion();
  return out;
}

void product_plan::describe(plan_info& to) const noexcept {
  const auto number = [&](cublasLtMatmulAlgoConfigAttributes_t which, std::int32_t& out) {
    std::size_t written = 0;
    (void)::cublasLtMatmulAlgoConfigGetAttribute(&algorithm_, which, &out, sizeof out, &written);
  };
  number(CUBLASLT_ALGO_CONFIG_ID, to.algorithm);
  number(CUBLASLT_ALGO_CONFIG_TILE_ID, to.tile);
  number(CUBLASLT_ALGO_CONFIG_STAGES_ID, to.stages);
  number(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, to.split_k);
}

result<std::vector<product_plan>> product_plan::search(cublasLtHandle_t library, const product_spec& s, int most) {
  product_plan out;
  if (const cublasStatus_t status = out.describe(s); status != CUBLAS_STATUS_SUCCESS)
    return failed("cublasLtMatmulDescSetAttribute", status);
  cublasLtMatmulPreferenceOpaque_t plan_constraints;
  cublasStatus_t status = ::cublasLtMatmulPreferenceInit(&plan_constraints);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = ::cublasLtMatmulPreferenceSetAttribute(&plan_constraints, which, &value, sizeof value);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(s.workspace));
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(s.reductions));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(s.a.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(s.b.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(s.c.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(s.d.alignment));
  if (status != CUBLAS_STATUS_SUCCESS) return failed("cublasLtMatmulPreferenceSetAttribute", status);
  std::vector<cublasLtMatmulHeuristicResult_t> all(static_cast<std::size_t>(most));
  int found = 0;
  status = ::cublasLtMatmulAlgoGetHeuristic(library, &out.product_, &out.a_, &out.b_, &out.c_, &out.d_,
                                            &plan_constraints, most, all.data(), &found);
  // cuBLASLt also returns INVALID_VALUE for a combination that it does not support.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
    return std::vector<product_plan>();
  if (status != CUBLAS_STATUS_SUCCESS) return failed("cublasLtMatmulAlgoGetHeuristic", status);
  std::vector<product_plan> plans;
  for (const auto& one : std::span(all).first(static_cast<std::size_t>(found))) {
    if (one.state != CUBLAS_STATUS_SUCCESS) continue;
    out.algorithm_ = one.algo, out.workspace_ = one.workspaceSize;
    plans.push_back(out);
  }
  return plans;
}

cublasStatus_t product_plan::enqueue(cublasLtHandle_t library, const product_arguments& a, void* workspace,
                                     CUstream stream) const noexcept {
  // The description with the addresses of this call. The struct is cuBLASLt's, and may be copied.
  cublasLtMatmulDescOpaque_t product = product_;
  settings to(product);
  const auto set_address = [&to](cublasLtMatmulDescAttributes_t which, const void* address) {
    if (address != nullptr) to.set(which, address);
  };
  set_address(CUBLASLT_MATMUL_DESC_BIAS_POINTER, a.bias);
  set_address(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, a.aux);
  set_address(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a.a_scale);
  set_address(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, a.b_scale);
  set_address(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, a.d_scale);
  set_address(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, a.amax);
  if (to.status() != CUBLAS_STATUS_SUCCESS) return to.status();
  // C must not be null, even if it is not read.
  const void* const c = a.c != nullptr ? a.c : c_is_like_d_ ? a.d : workspace;
  auto layout = [](const cublasLtMatrixLayoutOpaque_t& l) { return const_cast<cublasLtMatrixLayoutOpaque_t*>(&l); };
  return ::cublasLtMatmul(library, &product, a.alpha, a.a, layout(a_), a.b, layout(b_), a.beta, c, layout(c_), a.d,
                          layout(d_), &algorithm_, workspace, workspace_, stream);
}

}  // namespace troupe::matmul
