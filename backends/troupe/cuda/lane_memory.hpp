// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/argument_ring.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::cuda {

/// The resources of a worker's lane for calls of a vendor's library: its stream, a workspace, and host memory for
/// arguments. While a request is recorded into a graph, the graph provides all three. Not thread-safe.
class lane_memory {
 public:
  static result<lane_memory> make(std::string_view domain, std::size_t workspace_bytes);

  /// Call before each call of the library. Returns true if `stream()` or `workspace()` have changed.
  result<bool> begin(const call& c);
  CUstream stream() const noexcept { return stream_; }
  std::byte* workspace() const noexcept { return reinterpret_cast<std::byte*>(works_in_); }

  /// Claims host memory that the GPU can read. It is valid for the library calls before the next `begin` or
  /// `next_part`; while recording, for as long as the graph.
  result<std::byte*> claim(std::size_t bytes);
  /// Call between the library calls that process a long list piece by piece: claimed memory becomes free as in `begin`.
  result<void> next_part() { return records_ != nullptr ? result<void>() : arguments_.begin(stream_); }
  /// Makes the next `begin` return true, for a caller that failed to set the stream or the workspace that have changed.
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
  const call* records_ = nullptr;  // the call that a graph records; null if none does
};

}  // namespace troupe::cuda
