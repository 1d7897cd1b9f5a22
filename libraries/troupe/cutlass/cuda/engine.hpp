// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <troupe/cuda/per_lane.hpp>
#include <troupe/cutlass/cuda/pack.hpp>
#include <troupe/cutlass/cuda/route.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>

namespace troupe::cutlass {

/// The CUDA engine of cutlass: kernels that are written for a problem, compiled, kept and launched.
class cuda_engine {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cuda_engine>> make(const engine_context& context);
  std::string notes() const;

  result<void> run(const gemm& r, call& c);
  result<void> run(const gemm_batched& r, call& c);
  /// The GPU writes the answer if a group is wrong.
  result<void> run(const gemm_grouped& r, call& c);
  result<plan_info> run(const prepare& r, call& c);
  result<plan_info> run(const prepare_batched& r, call& c);
  result<plan_info> run(const prepare_grouped& r, call& c);
  result<troupe::plan::statistics> run(const read_statistics& r, call&) { return cells_->count(r.start_anew); }
  result<void> run(const pack& r, call& c) { return enqueue(problem_of(r), packing_, static_cast<CUstream>(c.stream)); }
  /// Whether its kernel is there: otherwise a thread of its own waits for the compiler.
  bool ready(const gemm& r) { return knows(problem_of(r), r.plan); }
  bool ready(const gemm_batched& r);
  bool ready(const gemm_grouped& r) { return knows(problem_of(r), r.plan); }

 private:
  cuda_engine(std::unique_ptr<cell_store> cells, cuda::kernel_set packing, cuda::per_lane<lane> lanes, chip on,
              const engine_context& context);
  struct stored_choice {
    cutlass::plan plan;
    float microseconds = 0;
  };
  std::string key_on_disk(const problem& p, const whole_form& f, const plan& wanted) const;
  std::optional<stored_choice> choice_on_disk(const std::string& key);
  void keep_on_disk(const std::string& key, const stored_choice& c);
  bool knows(const problem& p, const plan& wanted);
  template <class R>
  result<void> compute(const R& r, const problem& p, std::uint64_t wrong, call& c);
  template <class R>
  result<plan_info> prepare_for(const R& r, const problem& p, call& c);
  result<std::shared_ptr<route>> make_route(const problem& p, const plan& wanted, compiling how);

  std::unique_ptr<cell_store> cells_;
  cuda::kernel_set packing_;
  cuda::per_lane<lane> lanes_;
  const chip chip_;
  troupe::plan::disk_cache disk_{troupe::plan::disk_cache::default_folder()};
  troupe::plan::remarks remarks_;
  troupe::plan::cache<route> routes_{{.most = 4096}};
  std::atomic<std::uint64_t> replaced_{0};  // how often a route took the place of another
};

}  // namespace troupe::cutlass
