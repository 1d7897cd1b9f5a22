// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/cutlass/cuda/timing_run_memory.hpp>
#include <troupe/cutlass/problem.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {

namespace timing {

/// Returns the operands of a problem and of its epilogue, `tree_operands`. They refer to the addresses in both.
std::vector<operand> operands_of(problem& p, std::vector<epilogue::memory_operand>& tree_operands);
std::vector<operand> operands_of(convolution_problem& p, std::vector<epilogue::memory_operand>& tree_operands);

}  // namespace timing

/// Times plans of a problem on more copies of its operands than the GPU's cache holds. Results are written to
/// separate memory. Waits for the GPU.
template <class Problem>
class timing_run {
 public:
  static result<std::unique_ptr<timing_run>> make(const Problem& p, const call& c, CUstream stream) {
    std::unique_ptr<timing_run> out(new timing_run(c, stream));
    problem_copy first(p);
    std::uint64_t each = 0;
    for (const timing::operand& o : timing::operands_of(first.value, first.memory)) each += copy_bytes(o.used);
    const std::uint64_t count = timing::copies_beyond_cache(each);
    out->memory_.emplace(TROUPE_TRY(timing::allocate(each * count, c, stream)));
    for (std::uint64_t i = 0; i < count; ++i) TROUPE_TRY(out->add_copy(p, out->memory_->address() + i * each));
    return out;
  }

  /// Returns the microseconds that `enqueue(problem, memory, counters)` takes: the least of several averages. `memory`
  /// is the address of `memory_bytes`; the counters are 0, and must be 0 again after the kernels.
  template <class Enqueue>
  result<double> time(std::uint64_t memory_bytes, std::uint32_t counters, Enqueue&& enqueue) {
    const auto memory = TROUPE_TRY(timing::allocate_with_counters(memory_bytes, counters, call_, stream_));
    const auto run = [&](int times) -> result<void> {
      for (int i = 0; i < times; ++i)
        TROUPE_TRY(enqueue(copies_[next_++ % copies_.size()]->value, memory.all.address(), memory.counters));
      return {};
    };
    return timing::least_time(run, stream_);
  }

 private:
  struct problem_copy {
    explicit problem_copy(const Problem& p) : value(p), memory(p.tree.memory().begin(), p.tree.memory().end()) {}
    Problem value;
    std::vector<epilogue::memory_operand> memory;
    std::optional<epilogue::rebound_tree> tree;
  };
  timing_run(const call& c, CUstream stream) : call_(c), stream_(stream) {}

  result<void> add_copy(const Problem& p, std::uint64_t at) {
    auto copy = std::make_unique<problem_copy>(p);
    for (const timing::operand& o : timing::operands_of(copy->value, copy->memory))
      TROUPE_TRY(timing::copy_operand(o, at, stream_));
    copy->value.tree = copy->tree.emplace(p.tree, copy->memory).get();
    copies_.push_back(std::move(copy));
    return {};
  }

  const call call_;
  CUstream stream_;
  std::optional<cuda::scratch> memory_;
  std::vector<std::unique_ptr<problem_copy>> copies_;
  std::size_t next_ = 0;
};

}  // namespace troupe::cutlass
