// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <troupe/memory/blocks/owned_block.hpp>
#include <utility>

namespace troupe {

/// Blocks of finished small uploads, kept for later ones, so that threads that upload at the same time do not wait for
/// the lock of device_memory. Each thread takes blocks from one of several shelves. A block returns to the shelf it
/// belongs to, whichever thread releases it. Thread-safe.
class upload_blocks {
 public:
  static constexpr std::uint64_t largest = 16 << 10;
  /// Returns the size of the block for an upload of `bytes`. Precondition: bytes is at most `largest`.
  static constexpr std::uint64_t size_for(std::uint64_t bytes) noexcept {
    return std::bit_ceil(std::max(bytes, least));
  }

  /// Returns a block of `size_for(bytes)` without references, or null if this thread's shelf has none of that size.
  owned_block* take(std::uint64_t bytes) noexcept;
  /// Makes the new block `b` belong to this thread's shelf. Precondition: its size is one that `size_for` returns.
  void assign(owned_block& b) noexcept;
  /// Keeps a block without references. Returns false if the block belongs to no shelf, if its shelf is full, or after
  /// `close()`.
  bool keep(owned_block& b) noexcept { return b.shelf != 0 && put_back(b); }

  /// Takes all blocks off the shelves, and calls `each(block)`.
  template <class Each>
  void clear(Each&& each) {
    for (shelf& s : shelves_) {
      const std::scoped_lock guard(s.lock);
      collect(s, nullptr);
      for (owned_block*& list : s.free)
        while (list != nullptr) each(*take_first(s, list));
    }
  }
  /// Keeps no more blocks. Those on the shelves stay there.
  void close() noexcept;

  struct figures {
    std::uint64_t blocks = 0, bytes = 0;  ///< kept now
    std::uint64_t taken = 0;              ///< from the shelves since the beginning
  };
  figures statistics() const noexcept;

 private:
  static constexpr std::uint64_t least = 256, most_kept = std::uint64_t{16} << 20;
  static constexpr std::size_t sizes = std::countr_zero(largest) - std::countr_zero(least) + 1;
  static std::size_t size_class(std::uint64_t size) noexcept {
    return static_cast<std::size_t>(std::countr_zero(size) - std::countr_zero(least));
  }
  // Threads put blocks back into `back` without `lock`. The thread that takes a block holds `lock`, and moves the
  // blocks from `back` to the lists by size.
  struct shelf {
    alignas(64) std::mutex lock;
    std::array<owned_block*, sizes> free{};
    std::atomic<std::uint64_t> taken{0};
    alignas(64) std::atomic<owned_block*> back{nullptr};  // the first block of a list; &end_ after `close`
    std::atomic<std::uint64_t> blocks{0}, bytes{0};       // kept, in `back` and in the lists by size
    void count(const owned_block& b) noexcept {
      blocks.fetch_add(1, std::memory_order_relaxed);
      bytes.fetch_add(b.charged, std::memory_order_relaxed);
    }
    void uncount(const owned_block& b) noexcept {
      blocks.fetch_sub(1, std::memory_order_relaxed);
      bytes.fetch_sub(b.charged, std::memory_order_relaxed);
    }
  };
  static std::uint8_t shelf_of_this_thread() noexcept;
  bool put_back(owned_block& b) noexcept;
  void collect(shelf& s, owned_block* then) noexcept;
  static owned_block* take_first(shelf& s, owned_block*& list) noexcept;

  static constexpr std::size_t threads = 16;
  std::array<shelf, threads> shelves_;
  owned_block end_;  // the marker of a closed shelf; only its address is used
};

}  // namespace troupe
