// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/argument_ring.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::cuda {

/// What a lane of the worker owns, whichever vendor's library works on it: its stream, a workspace, and host memory for
/// arguments. While a graph records, all of it is the graph's. Used by one thread at a time.
class lane_memory {
 public:
  static result<lane_memory> make(std::string_view domain, std::size_t workspace_bytes);

  /// Before each call. True when `stream()` or `workspace()` are others than before.
  result<bool> begin(const call& c);
  CUstream stream() const noexcept { return stream_; }
  std::byte* workspace() const noexcept { return reinterpret_cast<std::byte*>(works_in_); }

  /// Host memory that the GPU reads: until the next part, or as long as the graph that records it.
  result<std::byte*> claim(std::size_t bytes);
  /// After some of a long list has been enqueued.
  result<void> next_part() { return records_ != nullptr ? result<void>() : arguments_.begin(stream_); }
  /// For who could not make use of `begin`: the next one says again that all is new.
  void forget() noexcept { has_begun_ = false; }

 private:
  lane_memory(argument_ring arguments, device_memory memory, std::size_t bytes) noexcept
      : arguments_(std::move(arguments)), memory_(std::move(memory)), workspace_bytes_(bytes) {}

  argument_ring arguments_;
  device_memory memory_;
  std::size_t workspace_bytes_;
  CUstream stream_ = nullptr;
  CUdeviceptr works_in_ = 0;
  bool has_begun_ = false;
  const call* records_ = nullptr;  // this call, when it is recorded
};

}  // namespace troupe::cuda
