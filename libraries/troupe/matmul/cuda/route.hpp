// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/epilogue/cuda/second_pass.hpp>
#include <troupe/matmul/cuda/product_plan.hpp>

namespace troupe::matmul {

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
  enum class arrangement : std::uint8_t { none, bytes, halves };

  bool multiplies = true;  ///< false if the epilogue uses no product
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
  std::uint64_t bytes_a = 0, bytes_b = 0, bytes_sums = 0, bytes_partial = 0;
  std::uint64_t scratch_bytes() const noexcept { return bytes_a + bytes_b + bytes_sums + bytes_partial; }
};

/// All that a route depends on, as bytes: shapes, strides, alignments, types, the epilogue's structure, and options.
void write_key(std::string& to, const multiplication& r, const problem& p);

/// Finds the best way that there is on this chip: the epilogue together with the product before a pass of its own, and
/// operands as they are before copies of them.
result<std::shared_ptr<route>> find_route(cublasLtHandle_t library, const multiplication& r, const problem& p,
                                          plan::disk_cache* disk, const chip& on);

}  // namespace troupe::matmul
