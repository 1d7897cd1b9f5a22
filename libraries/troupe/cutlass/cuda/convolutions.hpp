// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/cutlass/cuda/plans/execution_plan.hpp>
#include <troupe/cutlass/options.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/problem_kinds.hpp>
#include <troupe/plan/kept_choices.hpp>

namespace troupe::cutlass {

/// The options of a request, and its name for error texts.
struct request_options : product_options {
  std::string_view request;
};
template <class R>
request_options options_of(const R& r) noexcept {
  return {r.options, R::request_name};
}

/// An executable plan for convolutions with one signature and one size.
struct convolution_execution_plan {
  plan_info info;
  convolution_candidate candidate;
  /// A kernel of CUTLASS. If it is set, the following members are not used.
  std::optional<cutlass_library_execution_plan> library;
  std::vector<std::shared_ptr<const execution_plan>> products;  ///< one product for each launch
  std::shared_ptr<const execution_plan> separate_epilogue;
  std::shared_ptr<const kernel_variant> copies[4];  ///< copy kernels for elements of 1, 2, 4 and 8 bytes
  std::uint64_t own_bytes = 0;                      ///< bytes of memory of the launch that needs most

  std::uint64_t scratch_bytes() const noexcept { return library ? library->bytes : candidate.bytes + own_bytes; }
};

/// The convolutions of an engine. Thread-safe, except for the lanes.
class convolutions {
 public:
  convolutions(variant_store& variants, const cuda::gpu_properties& gpu, troupe::plan::kept_choices& kept)
      : variants_(variants), gpu_(gpu), kept_(kept) {}

  /// Returns true if the execution plan is in memory.
  bool has_execution_plan(const convolution_problem& p, const request_options& o) const;
  result<void> compute(const convolution_problem& p, const request_options& o, lane& on, call& c);
  /// Chooses a plan, after measuring up to `measure` candidates if `measure` is more than 1. Appends to the log. Waits
  /// for the GPU.
  result<plan_info> prepare(const convolution_problem& p, const request_options& o, int measure, lane& on, call& c,
                            std::string& log);

 private:
  // A measured choice, as stored on disk.
  struct stored_choice {
    convolution_choice copies;
    cutlass::plan plan;
    float microseconds = 0;
  };
  result<void> compute_without_images(const convolution_problem& p, const request_options& o, lane& on, call& c);
  static void write_key_of(std::string& key, const convolution_problem& p, const request_options& o);
  std::string key_on_disk(const convolution_problem_kind& kind, const request_options& o) const;
  result<std::shared_ptr<convolution_execution_plan>> execution_plan_for(const convolution_problem_kind& kind,
                                                                         const convolution_candidate& w,
                                                                         const request_options& o);
  result<std::shared_ptr<convolution_execution_plan>> best_execution_plan(const convolution_problem_kind& kind,
                                                                          const request_options& o);
  result<std::shared_ptr<const execution_plan>> separate_epilogue_plan(const problem& p, compiling how);

  variant_store& variants_;
  const cuda::gpu_properties& gpu_;
  troupe::plan::kept_choices& kept_;
  troupe::plan::cache<convolution_execution_plan> execution_plans_{{.most = 1024}};
};

/// Launches all kernels of a convolution. `memory` is the address of the execution plan's scratch_bytes(). If
/// `overlaps`, a kernel may be launched before the kernels that it waits for have ended.
result<void> enqueue(const convolution_problem& p, const convolution_execution_plan& execution,
                     const cuda::gpu_properties& gpu, lane& on, std::uint64_t memory, std::uint64_t arrivals,
                     bool overlaps, CUstream stream);
/// Returns the number of zeroed counters that the launches need.
std::uint32_t arrivals_of(const convolution_execution_plan& execution) noexcept;

}  // namespace troupe::cutlass
