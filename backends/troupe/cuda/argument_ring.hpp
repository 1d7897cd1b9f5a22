// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>

namespace troupe::cuda {

/// Host memory that the GPU reads, for what calls take from memory: lists of addresses, descriptions, factors. It is
/// used round and round, in parts: a part is used again when the GPU has passed the calls that read it, which it has
/// long done by then.
class argument_ring {
 public:
  static constexpr std::size_t part_bytes = 256 * 1024;

  /// `domain` is the library whose calls these are.
  static result<argument_ring> make(std::string_view domain);
  /// Before each call: what was claimed earlier may be given back when the calls so far have run.
  result<void> begin(CUstream stream);
  /// At most `part_bytes`, and fewer than `parts - 1` large ones for one call. Aligned to 16 bytes.
  result<std::byte*> claim(std::size_t bytes);

 private:
  static constexpr std::size_t parts = 8;
  explicit argument_ring(std::string_view domain) noexcept : domain_(domain) {}

  std::string_view domain_;
  pinned_memory memory_;
  event passed_[parts];
  std::size_t part_ = 0, used_ = 0;
  std::size_t left_ = 0;  ///< how many parts before this one await their event
};

}  // namespace troupe::cuda
