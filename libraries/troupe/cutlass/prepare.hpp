// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <troupe/cutlass/options.hpp>
#include <troupe/plan/plan_source.hpp>
#include <troupe/plan/requests.hpp>
#include <troupe/request/operands/operand.hpp>

/// Requests that choose plans and compile kernels before they are needed.
namespace troupe::cutlass {

/// The origin of a kernel.
enum class kernel_source : std::uint8_t {
  none = 0,      ///< no kernel: the engine compiles nothing
  prebuilt = 1,  ///< built into the engine
  disk = 2,      ///< compiled by an earlier process
  compiled = 3,  ///< compiled by this process
  vendor = 4,    ///< NVIDIA's CUTLASS library, compiled ahead of time
};
using troupe::plan::plan_source;

/// The plan that `prepare` chose.
struct plan_info {
  cutlass::plan plan = {};          ///< the plan in force
  float expected_microseconds = 0;  ///< time that the cost model predicts
  float microseconds = 0;           ///< measured time, if measured
  float first_microseconds = 0;     ///< measured time of the cost model's first plan, if measured
  float compile_seconds = 0;        ///< time that this request waited for the compiler
  std::uint32_t candidates = 0;     ///< number of plans that were considered
  std::uint32_t measured = 0;       ///< number of plans that were measured
  std::uint64_t workspace = 0;      ///< bytes of memory used beside the operands
  std::uint32_t log_bytes = 0;      ///< bytes of the complete log
  kernel_source kernel = kernel_source::none;
  plan_source source = plan_source::none;
  std::uint8_t unused[2]{};  ///< 0
};
static_assert(sizeof(plan_info) <= 64);

/// The options of `prepare`, which compiles and loads the kernels of a product or a convolution for later requests. If
/// `measure` is 2 or more, plans are measured on copies of the operands, and the kernels of the CUTLASS library that
/// can compute the product are measured, too. The reply for a `gemm_batched` is the plan of the first product. The
/// sizes of a `gemm_grouped` are read only if plans are measured.
///   const auto info = gpu.ask(cutlass::prepare{request}).get();
struct prepare_options {
  std::optional<out<std::byte>> log = {};  ///< buffer for the considered plans and their times, as zero-terminated text
  TROUPE_FIELDS(log)
  void check(checker& c, std::int32_t measure) const;
};
using troupe::plan::prepare;
/// Returns statistics of plans since the engine was opened.
using read_statistics = troupe::plan::read_statistics<"cutlass">;

}  // namespace troupe::cutlass
