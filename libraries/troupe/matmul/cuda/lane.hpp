// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/lane_memory.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::matmul {

struct route;

/// The state of one lane of the worker. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make() {
    return std::unique_ptr<lane>(new lane(TROUPE_TRY(cuda::lane_memory::make("matmul", workspace_bytes))));
  }
  /// Must be called before any other use. The lanes of helpers have no stream: they get one of their own, which is
  /// nobody's to wait for.
  result<void> use(const call& c) {
    call here = c;
    if (here.stream == nullptr) here.stream = TROUPE_TRY(own_stream());
    TROUPE_TRY(memory_.begin(here));
    return {};
  }
  cuda::lane_memory& memory() noexcept { return memory_; }
  CUstream stream() const noexcept { return memory_.stream(); }

  /// NVIDIA's recommendation for Hopper and later; with less, some algorithms are left out.
  static constexpr std::uint64_t workspace_bytes = std::uint64_t{32} << 20;

  /// The last request's route and its key: the next request often has the same.
  std::string last_key, next_key;
  std::shared_ptr<const route> last_route;
  std::uint64_t known_since = 0;  ///< when, counted in routes that took the place of others

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

  cuda::stream own_;  // before the memory, which may be freed in its order
  cuda::lane_memory memory_;
};

}  // namespace troupe::matmul
