// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/cuda/lane_memory.hpp>
#include <troupe/cuda/scratch.hpp>

namespace troupe::fft {

/// The state of one lane of the worker: memory for arguments, and one work area for all plans. Used by one thread at a
/// time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make();
  ~lane();
  lane(const lane&) = delete;
  /// Call before any other function.
  result<void> use(const call& c);

  cuda::lane_memory& memory() noexcept { return memory_; }
  CUstream stream() const noexcept { return memory_.stream(); }
  /// Returns a work area of at least `bytes` bytes for the call that is enqueued next: the lane's own area, or one of
  /// the graph that is being recorded.
  result<void*> work(const call& c, std::uint64_t bytes);

 private:
  explicit lane(cuda::lane_memory memory) noexcept : memory_(std::move(memory)) {}
  void free_area() noexcept;

  cuda::lane_memory memory_;
  CUdeviceptr area_ = 0;  // freed in the stream order of `stream_`
  std::uint64_t bytes_ = 0;
  CUstream stream_ = nullptr;
};

}  // namespace troupe::fft
