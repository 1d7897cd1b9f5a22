// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/lane_memory.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::matmul {

struct execution_plan;

/// The state of one lane of the worker. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make() {
    return std::unique_ptr<lane>(new lane(TROUPE_TRY(cuda::lane_memory::make("matmul", workspace_bytes))));
  }
  /// Must be called before any other use. The lanes of helper threads have no stream and make their own, for which no
  /// other thread waits.
  result<void> use(const call& c) {
    call here = c;
    if (here.stream == nullptr) here.stream = TROUPE_TRY(own_stream());
    TROUPE_TRY(memory_.begin(here));
    return {};
  }
  cuda::lane_memory& memory() noexcept { return memory_; }
  CUstream stream() const noexcept { return memory_.stream(); }

  /// NVIDIA's recommendation for Hopper and later; with less, some algorithms cannot be used.
  static constexpr std::uint64_t workspace_bytes = std::uint64_t{32} << 20;

  /// The last request's plan and its key, because the next request often has the same key. `next_key` is the memory for
  /// the next key.
  std::string last_key, next_key;
  std::shared_ptr<const execution_plan> last_plan;
  std::uint64_t known_since = 0;  ///< value of the engine's counter of replaced plans when `last_plan` was found

 private:
  explicit lane(cuda::lane_memory memory) noexcept : memory_(std::move(memory)) {}
  result<CUstream> own_stream() {
    if (own_.get() == nullptr) {
      CUstream made = nullptr;
      TROUPE_TRY(cuda::done_on(nullptr, "matmul", "cuStreamCreate", ::cuStreamCreate(&made, CU_STREAM_NON_BLOCKING)));
      own_.reset(made);
    }
    return own_.get();
  }

  cuda::stream own_;  // declared before the memory, which may be freed in stream order
  cuda::lane_memory memory_;
};

}  // namespace troupe::matmul
