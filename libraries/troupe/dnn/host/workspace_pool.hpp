// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe::dnn {

/// A pool of memory for the workspaces of plans. It keeps free blocks for later requests, because allocating memory
/// takes longer than many operations. Thread-safe.
class workspace_pool {
  struct release {
    void operator()(std::byte* p) const noexcept;
  };

 public:
  /// A block of memory, at least 64-byte aligned. Its destructor returns it to the pool.
  class block {
   public:
    block(workspace_pool& from, std::unique_ptr<std::byte, release> memory, std::uint64_t bytes) noexcept
        : from_(&from), memory_(std::move(memory)), bytes_(bytes) {}
    block(block&&) noexcept = default;
    ~block() {
      if (memory_) from_->put_back(std::move(*this));
    }
    std::byte* data() const noexcept { return memory_.get(); }

   private:
    friend class workspace_pool;
    workspace_pool* from_;
    std::unique_ptr<std::byte, release> memory_;
    std::uint64_t bytes_;
  };
  /// Returns a block of at least `bytes` bytes. Throws std::bad_alloc if there is no memory.
  block take(std::uint64_t bytes);

 private:
  struct free_block {
    std::unique_ptr<std::byte, release> memory;
    std::uint64_t bytes;
  };
  void put_back(block b) noexcept;

  std::mutex lock_;
  std::vector<free_block> free_;
};

}  // namespace troupe::dnn
