// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <optional>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/matmul/cuda/fusion.hpp>
#include <troupe/plan/kept_choices.hpp>
#include <type_traits>
#include <vector>

namespace troupe::matmul {

/// The arguments of a call that cuBLASLt's choice of an algorithm depends on: all but addresses and numbers. The struct
/// has no padding, so that equal specs have equal bytes.
struct product_spec {
  struct matrix {
    std::int64_t type, rows, columns, ld, stride, alignment;
  };
  matrix a, b, c, d;
  std::int64_t transpose_a, transpose_b, batch;
  std::int64_t compute, scale;     ///< cublasComputeType_t, cudaDataType
  std::int64_t epilogue;           ///< cublasLtEpilogue_t
  std::int64_t numbers_in_memory;  ///< 1 if alpha and beta are in memory
  std::int64_t bias_type, bias_stride, bias_alignment;
  std::int64_t aux_ld, aux_stride, aux_type, aux_alignment;
  std::int64_t scales;  ///< the scales and the amax of the product: bits `scales_a` to `finds_largest`
  std::int64_t a_scale_mode, b_scale_mode;
  std::int64_t fast_accumulation, multiprocessors, reductions, workspace;
  std::int64_t repeatable;  ///< 1 if the choice must depend on this spec alone
  static constexpr std::int64_t scales_a = 1, scales_b = 2, scales_d = 4, finds_largest = 8;
};
static_assert(std::has_unique_object_representations_v<product_spec>);

/// Bits of cublasLtEpilogue_t that cuBLASLt does not name.
namespace epilogue_part {
inline constexpr std::int64_t bias_gradient = 16, aux = 128;
}

/// The value of alpha or beta, in the type in which cuBLASLt computes.
struct alignas(16) number {
  std::byte value[16];
};
number number_of(double x, dtype sums) noexcept;

/// The addresses of the operands and numbers of a call.
struct product_arguments {
  const void *alpha = nullptr, *beta = nullptr;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;  ///< the bias to add, or memory that receives the gradient of the bias
  const void* aux = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr, *d_scale = nullptr;
  const void* amax = nullptr;
};

/// The description of a product for cuBLASLt, and the algorithm that computes it.
class product_plan {
 public:
  /// Returns at most `most` plans in the order of cuBLASLt's heuristic, the best first.
  static result<std::vector<product_plan>> search(cublasLtHandle_t library, const product_spec& s, int most);
  /// Returns the plan that an earlier process stored, if cuBLASLt accepts it.
  static std::optional<product_plan> stored(cublasLtHandle_t library, const product_spec& s, plan::kept_choices& kept,
                                            std::string_view gpu_name);
  /// Returns the plan with the algorithm `c`; nullopt if cuBLASLt does not accept it for this product.
  static result<std::optional<product_plan>> from(cublasLtHandle_t library, const product_spec& s, const choice& c);
  /// Stores the algorithm for later processes.
  void store(plan::kept_choices& kept, const product_spec& s, std::string_view gpu_name) const;

  std::uint64_t workspace_bytes() const noexcept { return workspace_; }
  void describe(plan_info& to) const noexcept;
  choice chosen() const noexcept;

  cublasStatus_t enqueue(cublasLtHandle_t library, const product_arguments& a, void* workspace,
                         CUstream stream) const noexcept;

 private:
  cublasStatus_t describe(const product_spec& s) noexcept;
  bool accepts(cublasLtHandle_t library, const choice& c, const product_spec& s) noexcept;

  cublasLtMatmulDescOpaque_t product_;
  cublasLtMatrixLayoutOpaque_t a_, b_, c_, d_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::uint64_t workspace_ = 0;
  bool c_is_like_d_ = true;  // true: D can be passed in place of a C that is not read
};

/// Returns cuBLASLt's name of an element type.
cudaDataType type_of(dtype t) noexcept;
/// Returns true if cuBLASLt has the type. For other types, `type_of` returns CUDA_R_32F.
inline bool has_type(dtype t) noexcept { return t == dtype::f32 || type_of(t) != CUDA_R_32F; }

}  // namespace troupe::matmul
