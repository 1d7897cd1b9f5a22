// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>
#include <troupe/request/encoding/fields.hpp>

namespace troupe::matmul {

/// The least precision that products of f32 may have. An engine may be more precise: the host engine always is.
enum class precision : std::uint8_t {
  exact = 0,   ///< the precision of f32
  tf32 = 1,    ///< factors rounded to 10 bits of mantissa
  bf16 = 2,    ///< factors rounded to bfloat16
  f16 = 3,     ///< factors rounded to half
  bf16x9 = 4,  ///< as precise as f32, from nine products of bfloat16
};
TROUPE_ENUM(precision, exact, tf32, bf16, f16, bf16x9)

/// The treatment of an epilogue that an engine cannot compute together with its product.
enum class fusion : std::uint8_t {
  allowed = 0,   ///< a second pass over the product computes the epilogue
  required = 1,  ///< the request is refused
};
TROUPE_ENUM(fusion, allowed, required)

/// The summation of products of 8-bit floats. Hopper's tensor cores truncate each product about 14 bits below the
/// largest of those that they add at once. `precise`: partial sums of tensor cores are added as floats; errors are up
/// to 3e-4 of the sum of the products' magnitudes, or 1e-3 if all products have one sign, because truncation errors
/// then add up. If d is f64, factors are widened first, and errors are up to 1e-6. `fast`: the tensor cores add
/// everything, with errors of up to 1e-3. The host engine always sums as for f32.
enum class accumulation : std::uint8_t { precise = 0, fast = 1 };
TROUPE_ENUM(accumulation, precise, fast)

/// The scope within which equal requests have equal results, with the same library on the same kind of device.
enum class repeatability : std::uint8_t {
  within_a_process = 0,   ///< the plan may be chosen by measurement, so it may be another in the next process
  between_processes = 1,  ///< the plan depends on the request alone, and sums are added in a fixed order
};
TROUPE_ENUM(repeatability, within_a_process, between_processes)

/// The value of `workspace` that sets no limit.
inline constexpr std::uint64_t any_amount = ~std::uint64_t{0};

struct prepare_options;
struct plan_info;

/// The options of a product.
struct product_options {
  matmul::precision precision = matmul::precision::exact;
  matmul::fusion fusion = matmul::fusion::allowed;
  matmul::accumulation accumulation = matmul::accumulation::precise;
  matmul::repeatability repeatability = matmul::repeatability::within_a_process;
  std::int32_t multiprocessors = 0;      ///< approximate limit of multiprocessors; 0: all. Ignored by the host engine
  std::uint64_t workspace = any_amount;  ///< the most bytes of memory beside the operands
  TROUPE_FIELDS(precision, fusion, accumulation, repeatability, multiprocessors, workspace)
  using prepare_options = matmul::prepare_options;
  using plan_info = matmul::plan_info;
  friend bool operator==(const product_options&, const product_options&) = default;
};

/// The reply of a product: how it was computed.
struct outcome {
  bool fused = true;         ///< true if the epilogue was computed together with the product
  std::uint8_t unused[7]{};  ///< 0
};

}  // namespace troupe::matmul
