// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>

namespace troupe::cuda {

/// Pinned host memory for arguments that library calls read through pointers: lists of addresses, descriptors, factors.
/// It is a ring of parts; a part is reused once the GPU has finished the calls that read it, so claiming seldom waits.
class argument_ring {
 public:
  static constexpr std::size_t part_bytes = 256 * 1024;

  /// Makes a ring for calls of the library `domain`.
  static result<argument_ring> make(std::string_view domain);
  /// Call before each call of the library. Memory that was claimed before becomes free once the GPU has completed the
  /// calls made so far.
  result<void> begin(CUstream stream);
  /// Claims at most `part_bytes`, aligned to 16 bytes. One library call may claim at most `parts - 1` parts.
  result<std::byte*> claim(std::size_t bytes);

 private:
  static constexpr std::size_t parts = 8;
  explicit argument_ring(std::string_view domain) noexcept : domain_(domain) {}

  std::string_view domain_;
  pinned_memory memory_;
  event passed_[parts];
  std::size_t part_ = 0, used_ = 0;
  /// The number of parts, directly before the current one, whose event has not been recorded since they were used.
  std::size_t left_ = 0;
};

}  // namespace troupe::cuda
