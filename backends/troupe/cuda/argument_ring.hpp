// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>

namespace troupe::cuda {

/// Host memory that the GPU reads, for arguments that calls take from memory: lists of addresses, descriptors, factors.
/// A ring of parts: a part is reused when the GPU has finished the calls that read it. By then it nearly always has.
class argument_ring {
 public:
  static constexpr std::size_t part_bytes = 256 * 1024;

  /// `domain` is the library that makes the calls.
  static result<argument_ring> make(std::string_view domain);
  /// Call before each call of the library. Memory that was claimed earlier becomes free when the calls made so far have
  /// run.
  result<void> begin(CUstream stream);
  /// Claims at most `part_bytes`, aligned to 16 bytes. One call may make fewer than `parts - 1` large claims.
  result<std::byte*> claim(std::size_t bytes);

 private:
  static constexpr std::size_t parts = 8;
  explicit argument_ring(std::string_view domain) noexcept : domain_(domain) {}

  std::string_view domain_;
  pinned_memory memory_;
  event passed_[parts];
  std::size_t part_ = 0, used_ = 0;
  /// The number of parts before this one whose event has not been recorded yet.
  std::size_t left_ = 0;
};

}  // namespace troupe::cuda
