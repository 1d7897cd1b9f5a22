// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe::dnn {

/// Memory for what lies between the operations of graphs. Some blocks are kept for the next graph, because new memory
/// costs more than many operations do. Thread-safe.
class scratch_pool {
  struct release {
    void operator()(std::byte* p) const noexcept;
  };

 public:
  /// At least 64-byte aligned; goes back to the pool.
  class block {
   public:
    block(scratch_pool& from, std::unique_ptr<std::byte, release> memory, std::uint64_t bytes) noexcept
        : from_(&from), memory_(std::move(memory)), bytes_(bytes) {}
    block(block&&) noexcept = default;
    ~block() {
      if (memory_) from_->give_back(std::move(*this));
    }
    std::byte* data() const noexcept { return memory_.get(); }

   private:
    friend class scratch_pool;
    scratch_pool* from_;
    std::unique_ptr<std::byte, release> memory_;
    std::uint64_t bytes_;
  };
  /// Throws std::bad_alloc.
  block take(std::uint64_t bytes);

 private:
  struct kept {
    std::unique_ptr<std::byte, release> memory;
    std::uint64_t bytes;
  };
  void give_back(block b) noexcept;

  std::mutex lock_;
  std::vector<kept> free_;
};

}  // namespace troupe::dnn
