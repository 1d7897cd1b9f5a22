// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>
#include <troupe/cutlass/plan.hpp>
#include <troupe/matmul/options.hpp>
#include <troupe/request/encoding/fields.hpp>

namespace troupe::cutlass {

using matmul::accumulation;
using matmul::any_amount;

/// The least precision of products of f32. An engine may be more precise; the host engine always multiplies f32.
enum class precision : std::uint8_t {
  exact = 0,  ///< multiplied as f32
  tf32 = 1,   ///< factors are rounded to 10 bits of mantissa
};
TROUPE_ENUM(precision, exact, tf32)

/// Permission of a request to wait for the compiler.
enum class compiling : std::uint8_t {
  /// Waits only if there is no kernel for this kind of problem. If another plan would be better, its kernel is compiled
  /// in the background, for later requests. A convolution waits for the best plan.
  allowed = 0,
  forbidden = 1,  ///< fails instead of waiting, with an error that names the kernel
  awaited = 2,    ///< waits for the best plan, so that equal requests give equal bits from the first on
};
TROUPE_ENUM(compiling, allowed, forbidden, awaited)

struct prepare_options;
struct plan_info;

/// The options of all products and convolutions.
struct product_options {
  cutlass::precision precision = cutlass::precision::exact;
  cutlass::accumulation accumulation = cutlass::accumulation::precise;
  cutlass::compiling compiling = cutlass::compiling::allowed;
  cutlass::plan plan = {};
  std::uint64_t workspace = any_amount;  ///< maximum bytes of memory beside the operands
  TROUPE_FIELDS(precision, accumulation, compiling, plan, workspace)
  using prepare_options = cutlass::prepare_options;
  using plan_info = cutlass::plan_info;
};

}  // namespace troupe::cutlass
