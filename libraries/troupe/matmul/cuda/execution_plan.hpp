// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <troupe/base/round_up.hpp>
#include <troupe/epilogue/cuda/second_pass.hpp>
#include <troupe/matmul/cuda/product_plan.hpp>
#include <troupe/plan/remarks.hpp>

namespace troupe::matmul {

/// Memory is divided at multiples of this.
inline std::uint64_t whole_lines(std::uint64_t bytes) noexcept { return round_up(bytes, 256); }

/// What a GPU is, as far as plans depend on it.
struct chip {
  std::string name;    ///< with the library's version: part of keys on disk
  int capability = 0;  ///< 90 for 9.0
  int multiprocessors = 0;
  bool has_float8() const noexcept { return capability >= 89; }
};

/// How a request is computed.
struct route {
  /// Operands that are copied first, so that the terms of a sum are neighbours and aligned.
  enum class arrangement : std::uint8_t {
    none,
    bytes,         ///< copies where needed
    halves,        ///< 8-bit floats as half, which has all of them
    block_scaled,  ///< copies where needed, and the scales of blocks as cuBLASLt wants them
    scaled,        ///< elements times their scales, as bfloat16 or float
  };

  bool multiplies = true;  ///< false if the epilogue uses no product
  bool small = false;      ///< whether our own kernel computes all of it, for any number of such requests together
  bool fused = false;
  fused_form form;  ///< if it is fused
  std::optional<product_plan> plan;
  std::optional<epilogue::second_pass> pass;  ///< if it is not fused
  arrangement arranged = arrangement::none;
  bool copies_a = false, copies_b = false;
  std::int64_t k = 0;  ///< of what is multiplied: arranged operands are longer
  dtype sums{};
  bool aside = false;  ///< whether the sums go to memory of their own, and not to D
  std::int64_t sums_ld = 0, sums_stride = 0;
  // Memory for the duration of the request: bytes.
  std::uint64_t bytes_a = 0, bytes_b = 0, bytes_scales_a = 0, bytes_scales_b = 0, bytes_sums = 0, bytes_partial = 0;
  std::uint64_t offset_b() const noexcept { return bytes_a; }
  std::uint64_t offset_scales_a() const noexcept { return offset_b() + bytes_b; }
  std::uint64_t offset_scales_b() const noexcept { return offset_scales_a() + bytes_scales_a; }
  std::uint64_t offset_sums() const noexcept { return offset_scales_b() + bytes_scales_b; }
  std::uint64_t offset_partial() const noexcept { return offset_sums() + bytes_sums; }
  std::uint64_t scratch_bytes() const noexcept { return offset_partial() + bytes_partial; }
};

/// How copies of scales are stored for cuBLASLt: lines, each of `length` scales, `padded` from one to the next. Those
/// of 1 x 128 elements: a line for each block along k; those of 128 x 128: a line for each block across.
struct stored_scales {
  std::int64_t lines, length, padded, along, across;
};
stored_scales scales_for_library(const block_scales& s, std::int64_t lines) noexcept;

/// The type of elements times their scales: bfloat16 has the products with scales of 8 bits.
inline dtype scaled_type(const block_scales& s) noexcept { return s.type == dtype::f32 ? dtype::f32 : dtype::bf16; }

/// Whether requests are computed by our own kernel, which has the same bits for one alone and for many together.
bool is_small(const multiplication& r) noexcept;

/// All that a route depends on, as bytes: shapes, strides, alignments, types, the epilogue's structure, and options.
void write_key(std::string& to, const multiplication& r, const problem& p);

/// How to choose among cuBLASLt's algorithms.
struct choosing {
  plan::disk_cache* disk = nullptr;
  plan::remarks* remarks = nullptr;  ///< what is said of `disk`; not null if there is one
  std::int32_t measure = 0;          ///< how many; 0: the first
  const choice* given = nullptr;
  /// Measures a plan of the route: microseconds.
  std::function<result<double>(const route&, const product_plan&)> time = {};
  plan_info* info = nullptr;  ///< gets what was found, if not null
};

/// Finds the best way that there is on this chip: the epilogue together with the product before a pass of its own, and
/// operands as they are before copies of them.
result<std::shared_ptr<route>> find_route(cublasLtHandle_t library, const multiplication& r, const problem& p,
                                          const chip& on, const choosing& how);

}  // namespace troupe::matmul
