// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>
#include <vector>

namespace troupe::graph {

/// What operations leave in memory that have no time of their own: it lives as long as what was recorded.
class recorded_memory {
 public:
  /// Host memory that the GPU reads and writes.
  result<void*> constants(std::uint64_t bytes);

  /// Device memory that operations use one after the other.
  class scratch {
   public:
    /// Another operation: it may use all of it again.
    void begin() noexcept { taken_ = 0, used_ = 0; }
    result<void*> take(std::uint64_t bytes);

   private:
    struct piece {
      cuda::device_memory memory;
      std::uint64_t bytes;
    };
    std::vector<piece> pieces_;
    std::size_t taken_ = 0;   // how many of them this operation has begun
    std::uint64_t used_ = 0;  // of the last of those
  };
  scratch& add_scratch() { return *scratches_.emplace_back(std::make_unique<scratch>()); }

 private:
  std::vector<cuda::pinned_memory> constants_;
  std::byte* next_ = nullptr;
  std::uint64_t left_ = 0;
  std::vector<std::unique_ptr<scratch>> scratches_;
};

}  // namespace troupe::graph
