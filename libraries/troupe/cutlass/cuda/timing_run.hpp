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

/// Returns all operands of a problem, and those of its epilogue, of which `of_tree` becomes a copy.
std::vector<operand> operands_of(problem& p, std::vector<epilogue::tree_memory>& of_tree);
std::vector<operand> operands_of(convolution_problem& p, std::vector<epilogue::tree_memory>& of_tree);

}  // namespace timing

/// Times plans of a problem on copies of its operands, as many as exceed the GPU's cache. Results are written to
/// separate memory. Waits for the GPU.
template <class Problem>
class timing_run {
 public:
  static result<std::unique_ptr<timing_run>> make(const Problem& p, const call& c, CUstream stream) {
    std::unique_ptr<timing_run> out(new timing_run(c, stream));
    turn one(p);
    std::uint64_t each = 0;
    for (const timing::operand& o : timing::operands_of(one.of, one.memory)) each += copy_bytes(o.used);
    const std::uint64_t count = timing::copies_beyond_cache(each);
    out->copies_.emplace(TROUPE_TRY(timing::take(each * count, c, stream)));
    for (std::uint64_t i = 0; i < count; ++i) TROUPE_TRY(out->add_turn(p, out->copies_->address() + i * each));
    return out;
  }

  /// Returns the microseconds that `enqueue(problem, memory, counters)` takes, the least of several averages. It gets
  /// that memory, and counters that are 0 and must be 0 again after it.
  template <class Enqueue>
  result<double> time(std::uint64_t memory_bytes, std::uint32_t counters, Enqueue&& enqueue) {
    const auto memory = TROUPE_TRY(timing::take_with_counters(memory_bytes, counters, call_, stream_));
    const auto run = [&](int times) -> result<void> {
      for (int i = 0; i < times; ++i)
        TROUPE_TRY(enqueue(turns_[next_++ % turns_.size()]->of, memory.all.address(), memory.counters));
      return {};
    };
    return timing::least_time(run, stream_);
  }

 private:
  struct turn {
    explicit turn(const Problem& p) : of(p), memory(p.tree.memory().begin(), p.tree.memory().end()) {}
    Problem of;
    std::vector<epilogue::tree_memory> memory;
    std::optional<epilogue::rebound_tree> tree;
  };
  timing_run(const call& c, CUstream stream) : call_(c), stream_(stream) {}

  result<void> add_turn(const Problem& p, std::uint64_t at) {
    auto t = std::make_unique<turn>(p);
    for (const timing::operand& o : timing::operands_of(t->of, t->memory)) TROUPE_TRY(timing::move(o, at, stream_));
    t->of.tree = t->tree.emplace(p.tree, t->memory).get();
    turns_.push_back(std::move(t));
    return {};
  }

  const call call_;
  CUstream stream_;
  std::optional<cuda::scratch> copies_;
  std::vector<std::unique_ptr<turn>> turns_;
  std::size_t next_ = 0;
};

}  // namespace troupe::cutlass
