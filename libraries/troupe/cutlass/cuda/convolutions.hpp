// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cuda/choices_on_disk.hpp>
#include <troupe/cutlass/cuda/execution_plan.hpp>
#include <troupe/cutlass/cuda/request_options.hpp>
#include <troupe/cutlass/variants/convolution_candidates.hpp>

namespace troupe::cutlass {

/// Executable plan of convolutions with one signature and one size.
struct convolution_execution_plan {
  plan_info info;
  convolution_candidate candidate;
  std::optional<vendor_execution_plan> vendors;  ///< a kernel of CUTLASS; then there is nothing of the rest
  std::vector<std::shared_ptr<const execution_plan>> products;  ///< one for each launch
  std::shared_ptr<const execution_plan> separate_epilogue;
  std::shared_ptr<const kernel_variant> copies[4];  ///< for elements of 1, 2, 4 and 8 bytes
  std::uint64_t own_bytes = 0;                      ///< memory of the launches that need the most

  std::uint64_t scratch_bytes() const noexcept { return vendors ? vendors->bytes : candidate.bytes + own_bytes; }
};

/// The convolutions of an engine. Thread-safe, except for the lanes.
class convolutions {
 public:
  convolutions(variant_store& variants, const gpu_properties& gpu, choices_on_disk& disk)
      : variants_(variants), gpu_(gpu), disk_(disk) {}

  bool knows(const convolution_problem& p, const request_options& o) const;
  result<void> compute(const convolution_problem& p, const request_options& o, lane& on, call& c);
  /// Measures up to `measure` candidates, if that is more than one. Waits for the GPU.
  result<plan_info> prepare(const convolution_problem& p, const request_options& o, int measure, lane& on, call& c,
                            std::string& log);

 private:
  // A measured candidate.
  struct stored_choice {
    convolution_choice copies;
    cutlass::plan plan;
    float microseconds = 0;
  };
  result<void> compute_without_images(const convolution_problem& p, const request_options& o, lane& on, call& c);
  static void write_key_of(std::string& key, const convolution_problem& p, const request_options& o);
  std::string key_on_disk(const convolution_problem& p, const request_options& o) const;
  result<std::shared_ptr<convolution_execution_plan>> execution_plan_for(const convolution_problem& p,
                                                                         const convolution_candidate& w,
                                                                         const request_options& o);
  result<std::shared_ptr<convolution_execution_plan>> best_execution_plan(const convolution_problem& p,
                                                                          const request_options& o);
  result<std::shared_ptr<const execution_plan>> separate_epilogue_plan(const problem& p, compiling how);

  variant_store& variants_;
  const gpu_properties& gpu_;
  choices_on_disk& disk_;
  troupe::plan::cache<convolution_execution_plan> execution_plans_{{.most = 1024}};
};

/// Launches all kernels of a convolution. `memory` has the execution plan's scratch_bytes(). `overlaps`: kernels may be
/// launched before those that they wait for have ended.
result<void> enqueue(const convolution_problem& p, const convolution_execution_plan& execution,
                     const gpu_properties& gpu, lane& on, std::uint64_t memory, std::uint64_t arrivals, bool overlaps,
                     CUstream stream);
/// Returns how many counters that are 0 its launches need.
std::uint32_t arrivals_of(const convolution_execution_plan& execution) noexcept;

}  // namespace troupe::cutlass
