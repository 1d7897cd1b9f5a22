// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/argument_ring.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::cuda {

/// The resources that a lane of the worker owns, whichever vendor's library runs on it: its stream, a workspace, and
/// host memory for arguments. While a graph records, all of these belong to the graph. Not thread-safe.
class lane_memory {
 public:
  static result<lane_memory> make(std::string_view domain, std::size_t workspace_bytes);

  /// Call before each call of the library. Returns true if `stream()` or `workspace()` have changed.
  result<bool> begin(const call& c);
  CUstream stream() const noexcept { return stream_; }
  std::byte* workspace() const noexcept { return reinterpret_cast<std::byte*>(works_in_); }

  /// Claims host memory that the GPU reads. It stays valid until the next part, or as long as the graph that records
  /// the call.
  result<std::byte*> claim(std::size_t bytes);
  /// Call after enqueuing a portion of a long list.
  result<void> next_part() { return records_ != nullptr ? result<void>() : arguments_.begin(stream_); }
  /// Makes the next `begin` report everything as changed, for a caller that failed to apply what `begin` returned.
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
  const call* records_ = nullptr;  // the call, if a graph records it
};

}  // namespace troupe::cuda
