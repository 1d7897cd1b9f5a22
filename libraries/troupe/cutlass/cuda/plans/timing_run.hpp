// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/base/try.hpp>
#include <troupe/cuda/timing_run.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/cutlass/problems/problem.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {

/// Returns the operands of a problem and of its epilogue, `tree_operands`. They refer to the addresses in `p` and in
/// `tree_operands`.
std::vector<cuda::timed_operand> operands_of(problem& p, std::vector<epilogue::memory_operand>& tree_operands);
std::vector<cuda::timed_operand> operands_of(convolution_problem& p,
                                             std::vector<epilogue::memory_operand>& tree_operands);

/// Times plans of a problem on copies of its operands, more than the GPU's cache can hold. Results are not written to
/// the request's memory. Each call waits for the GPU.
template <class Problem>
class timing_run {
 public:
  static result<timing_run> make(const Problem& p, const call& c, CUstream stream) {
    call here = c;
    here.stream = stream;
    auto run = TROUPE_TRY(
        cuda::timing_run::make(here, "cutlass", {.average_us = 4'000, .fewest = 3, .most = 400, .averages = 3}));
    problem_copy first(p);
    std::uint64_t each = 0;
    for (const cuda::timed_operand& o : operands_of(first.value, first.memory))
      each += cuda::copy_bytes(o.used.bytes());
    auto copies = TROUPE_TRY(copied_problems::make(run, each, [&](std::uint64_t at) { return copy(p, run, at); }));
    return timing_run(std::move(run), std::move(copies));
  }

  /// Returns the microseconds that `enqueue(problem, memory, counters)` takes. `memory` is the address of
  /// `memory_bytes`; the counters are 0, and must be 0 again after the kernels.
  template <class Enqueue>
  result<double> time(std::uint64_t memory_bytes, std::uint32_t counters, Enqueue&& enqueue) {
    const auto memory = TROUPE_TRY(run_.allocate_with_counters(memory_bytes, counters));
    return run_.time([&](int times) -> result<void> {
      for (int i = 0; i < times; ++i) TROUPE_TRY(enqueue(copies_.next()->value, memory.all.address(), memory.counters));
      return {};
    });
  }

 private:
  struct problem_copy {
    explicit problem_copy(const Problem& p) : value(p), memory(p.tree.memory().begin(), p.tree.memory().end()) {}
    Problem value;
    std::vector<epilogue::memory_operand> memory;
    std::optional<epilogue::rebound_tree> tree;
  };
  using copied_problems = cuda::copied_arguments<std::unique_ptr<problem_copy>>;
  timing_run(cuda::timing_run run, copied_problems copies) : run_(std::move(run)), copies_(std::move(copies)) {}

  static result<std::unique_ptr<problem_copy>> copy(const Problem& p, const cuda::timing_run& run, std::uint64_t at) {
    auto out = std::make_unique<problem_copy>(p);
    for (const cuda::timed_operand& o : operands_of(out->value, out->memory)) TROUPE_TRY(run.copy(o, at));
    out->value.tree = out->tree.emplace(p.tree, out->memory).get();
    return out;
  }

  cuda::timing_run run_;
  copied_problems copies_;
};

}  // namespace troupe::cutlass
