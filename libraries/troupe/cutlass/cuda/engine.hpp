// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/cuda/per_lane.hpp>
#include <troupe/cutlass/cuda/convolutions.hpp>
#include <troupe/cutlass/cuda/pack.hpp>
#include <troupe/cutlass/cuda/plans/absent_kernels.hpp>
#include <troupe/cutlass/cuda/plans/background_worker.hpp>
#include <troupe/cutlass/cuda/plans/execution_plan.hpp>
#include <troupe/cutlass/cutlass.hpp>

namespace troupe::cutlass {

/// The CUDA engine of cutlass: generates the kernels of a problem, and compiles, caches and launches them.
class cuda_engine {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cuda_engine>> make(const engine_context& context);
  std::string notes() const;

  result<void> run(const gemm& r, call& c);
  result<void> run(const gemm_batched& r, call& c);
  /// If a group has a wrong size, the GPU writes the reply: see gemm_grouped::failure_in.
  result<void> run(const gemm_grouped& r, call& c);
  template <class R>
  result<plan_info> run(const prepare<R>& r, call& c);
  result<void> run(const conv_forward& r, call& c);
  result<void> run(const conv_data_gradient& r, call& c);
  result<void> run(const conv_weight_gradient& r, call& c);
  result<troupe::plan::statistics> run(const read_statistics& r, call&) { return variants_->count(r.start_anew); }
  result<void> run(const pack& r, call& c) { return enqueue(problem_of(r), packing_, static_cast<CUstream>(c.stream)); }
  /// Returns true if the request's kernel is loaded; otherwise the caller runs the request on a separate thread, which
  /// waits for the compiler.
  bool ready(const gemm& r) { return has_execution_plan(problem_of(r), options_of(r)); }
  bool ready(const gemm_batched& r);
  bool ready(const gemm_grouped& r) { return has_execution_plan(problem_of(r), options_of(r)); }
  bool ready(const conv_forward& r);
  bool ready(const conv_data_gradient& r);
  bool ready(const conv_weight_gradient& r);

 private:
  cuda_engine(std::unique_ptr<variant_store> variants, cuda::kernel_set packing, cuda::per_lane<lane> lanes,
              cuda::gpu_properties gpu, const engine_context& context);
  struct stored_choice {
    cutlass::plan plan;
    float microseconds = 0;
  };
  struct choices {
    std::vector<candidate> all;
    std::optional<stored_choice> stored;  ///< the first of `all`, if it was measured before
  };
  std::string key_on_disk(const problem& p, const kernel_signature& f, const plan& wanted) const;
  bool has_execution_plan(const problem& p, const request_options& o);
  template <class R>
  result<void> compute(const R& r, const problem& p, std::uint64_t wrong, call& c);
  result<void> multiply(const problem& p, request_options o, std::uint64_t wrong, call& c);
  // Return the plan in force, and write the log. `o` has the options of `r`, and the name of the prepare request.
  template <class R>
  result<plan_info> prepare_plan(const R& r, request_options o, std::int32_t measure, call& c, std::string& log);
  result<plan_info> prepare_plan(const gemm_batched& r, const request_options& o, std::int32_t measure, call& c,
                                 std::string& log);
  result<plan_info> prepare_plan(const problem& requested, request_options o, std::int32_t measure, call& c,
                                 std::string& log);
  result<plan_info> prepare_plan(const convolution_problem& p, const request_options& o, std::int32_t measure, call& c,
                                 std::string& log);
  template <class R>
  result<void> convolve(const R& r, call& c);
  result<void> send_log(const out<std::byte>& to, const std::string& log, call& c);
  result<choices> choices_of(const product_kind& kind, const kernel_signature& f, const request_options& o);
  template <class Make>
  result<std::shared_ptr<execution_plan>> first_that_fits(const problem& p, const choices& from,
                                                          const request_options& o, Make&& make);
  result<std::shared_ptr<execution_plan>> fastest_of(const problem& p, const product_kind& kind,
                                                     const kernel_signature& f, std::span<const candidate> all,
                                                     const request_options& o, call& c, std::string& log);
  result<std::shared_ptr<execution_plan>> make_execution_plan(const product_kind& kind, const request_options& o,
                                                              const std::string& key);
  result<std::shared_ptr<execution_plan>> known_execution_plan(const problem& p, const kernel_signature& f,
                                                               const std::vector<candidate>& all, const candidate& best,
                                                               const request_options& o, const std::string& key);

  result<std::shared_ptr<execution_plan>> execution_plan_with_kernel(const problem& p, const kernel_signature& f,
                                                                     const candidate& c, compiling how);

  std::unique_ptr<variant_store> variants_;
  cuda::kernel_set packing_;
  cuda::per_lane<lane> lanes_;
  const cuda::gpu_properties gpu_;
  troupe::plan::remarks remarks_;
  troupe::plan::kept_choices kept_;  // measured plans for this kind of GPU and this CUTLASS plug-in, or none
  convolutions convolutions_;
  absent_kernels absent_;
  troupe::plan::cache<execution_plan> execution_plans_{{.most = 4096}};
  background_worker background_jobs_;  // destroyed first, because its jobs use the other members
};

}  // namespace troupe::cutlass
