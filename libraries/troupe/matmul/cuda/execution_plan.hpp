// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/epilogue/cuda/second_pass.hpp>
#include <troupe/matmul/cuda/product_kind.hpp>
#include <troupe/matmul/cuda/product_plan.hpp>

namespace troupe::matmul {

/// Rounds up to a multiple of 256, at which each part of the workspace begins.
inline std::uint64_t padded_bytes(std::uint64_t bytes) noexcept { return round_up(bytes, 256); }

/// The steps that compute a request: copies of operands, cuBLASLt's algorithm, and a second pass for the epilogue.
struct execution_plan {
  /// The copies of factors that are made first, so that elements along k are contiguous and aligned.
  enum class arrangement : std::uint8_t {
    none,
    bytes,         ///< copies the factors whose layout cuBLASLt does not support, and keeps their type
    halves,        ///< copies 8-bit floats as half, which has all their values
    block_scaled,  ///< like `bytes`, and copies block scales into cuBLASLt's layout
    scaled,        ///< copies numbers times their scales, as bfloat16 or float
  };

  bool multiplies = true;   ///< false if the epilogue uses no product
  bool small = false;       ///< true: our own kernel computes the request, alone or together with others like it
  bool fused = false;       ///< true: cuBLASLt computes the epilogue
  fused_epilogue epilogue;  ///< set if `fused`
  std::optional<product_plan> product;
  std::optional<epilogue::second_pass> pass;  ///< set unless `fused`
  arrangement arranged = arrangement::none;
  bool copies_a = false, copies_b = false;
  std::int64_t k = 0;  ///< k of cuBLASLt's product: larger than the request's if copies are padded
  dtype sums{};
  bool sums_in_workspace = false;  ///< true: cuBLASLt writes the sums to the workspace; false: to D
  std::int64_t sums_ld = 0, sums_stride = 0;
  // Bytes of each part of the workspace, which exists while the request runs.
  std::uint64_t bytes_a = 0, bytes_b = 0, bytes_scales_a = 0, bytes_scales_b = 0, bytes_sums = 0, bytes_partial = 0;
  std::uint64_t offset_b() const noexcept { return bytes_a; }
  std::uint64_t offset_scales_a() const noexcept { return offset_b() + bytes_b; }
  std::uint64_t offset_scales_b() const noexcept { return offset_scales_a() + bytes_scales_a; }
  std::uint64_t offset_sums() const noexcept { return offset_scales_b() + bytes_scales_b; }
  std::uint64_t offset_partial() const noexcept { return offset_sums() + bytes_sums; }
  std::uint64_t scratch_bytes() const noexcept { return offset_partial() + bytes_partial; }
};

/// The layout of block scales for cuBLASLt: `lines` lines of `length` scales each, `padded` scales from one line to the
/// next. With blocks of 1 x 128 numbers there is a line for each block along k, with blocks of 128 x 128 one for each
/// group of 128 lines. The strides are those of the request's scales.
struct stored_scales {
  std::int64_t lines, length, padded, element_stride, line_stride;
};
stored_scales scales_for_library(const block_scales& s, std::int64_t lines) noexcept;

/// Returns the type of copies of elements times their scales. Elements times 8-bit scales are exact in bfloat16.
inline dtype scaled_type(const block_scales& s) noexcept { return s.type == dtype::f32 ? dtype::f32 : dtype::bf16; }

/// Options of the choice among cuBLASLt's algorithms.
struct selection_options {
  plan::kept_choices& kept;       ///< algorithms that earlier processes chose
  std::int32_t measure = 0;       ///< number of algorithms to measure; 0: use the heuristic's first
  const choice* given = nullptr;  ///< the algorithm to use; null: choose one
  /// Measures an algorithm for the plan; returns microseconds.
  std::function<result<double>(const execution_plan&, const product_plan&)> time = {};
  plan_info* info = nullptr;  ///< if not null, receives a description of the plan
};

/// Finds the best plan of requests of a kind on this GPU. Plans that fuse the epilogue are preferred, then plans that
/// do not copy factors.
result<std::shared_ptr<execution_plan>> find_execution_plan(cublasLtHandle_t library, const product_kind& kind,
                                                            const cuda::gpu_properties& gpu,
                                                            const selection_options& options);

}  // namespace troupe::matmul
