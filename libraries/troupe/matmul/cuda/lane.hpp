// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/cuda/lane_memory.hpp>
#include <troupe/cuda/own_stream.hpp>
#include <troupe/plan/recent.hpp>

namespace troupe::matmul {

struct execution_plan;

/// The state of one lane of the worker. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make() {
    return std::unique_ptr<lane>(new lane(TROUPE_TRY(cuda::lane_memory::make("matmul", workspace_bytes))));
  }
  /// Begins a request on this lane. Must be called before any other function.
  result<void> use(const call& c) {
    call here = c;
    here.stream = TROUPE_TRY(own_.of(c, "matmul"));
    TROUPE_TRY(memory_.begin(here));
    return {};
  }
  cuda::lane_memory& memory() noexcept { return memory_; }
  CUstream stream() const noexcept { return memory_.stream(); }

  /// NVIDIA's recommendation for Hopper and later; with less, some algorithms cannot be used.
  static constexpr std::uint64_t workspace_bytes = std::uint64_t{32} << 20;

  plan::recent<execution_plan> recent;

 private:
  explicit lane(cuda::lane_memory memory) noexcept : memory_(std::move(memory)) {}
  cuda::own_stream own_;  // declared before the memory, which may be freed in stream order
  cuda::lane_memory memory_;
};

}  // namespace troupe::matmul
