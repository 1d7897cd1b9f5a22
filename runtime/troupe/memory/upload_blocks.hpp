// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <troupe/memory/owned_block.hpp>

namespace troupe {

/// Blocks of small uploads, kept for the next ones, so that threads that upload at the same time do not wait for the
/// lock of the device's memory. Each thread takes from one of several shelves. A block goes back to the shelf that it
/// was made for, whichever thread releases it. Thread-safe.
class upload_blocks {
 public:
  static constexpr std::uint64_t largest = 16 << 10;
  /// Returns the size of the block that an upload of `bytes` takes, at most `largest`.
  static constexpr std::uint64_t size_for(std::uint64_t bytes) noexcept {
    return std::bit_ceil(std::max(bytes, least));
  }

  /// Returns a block of `size_for(bytes)` without references, or null if this thread's shelf has none.
  owned_block* take(std::uint64_t bytes) noexcept;
  /// Makes `b`, a new block of `size_for` its bytes, one of this thread's shelf.
  void assign(owned_block& b) noexcept;
  /// Keeps a block that nobody references. Returns false if the block is none of these, if its shelf is full, or after
  /// `close()`.
  bool keep(owned_block& b) noexcept { return b.shelf != 0 && put_back(b); }

  /// Takes all blocks off the shelves, and calls `each(block)`.
  template <class Each>
  void clear(Each&& each) {
    for (shelf& s : shelves_) empty(s, each, nullptr);
  }
  /// The same; keeps none from now on.
  template <class Each>
  void close(Each&& each) {
    for (shelf& s : shelves_) empty(s, each, &end_);
  }

  struct figures {
    std::uint64_t blocks = 0, bytes = 0;  ///< kept
    std::uint64_t taken = 0;              ///< since the beginning
  };
  figures statistics() const noexcept;

 private:
  static constexpr std::uint64_t least = 256, most_kept = std::uint64_t{16} << 20;
  static constexpr std::size_t sizes = std::countr_zero(largest) - std::countr_zero(least) + 1;
  static std::size_t size_class(std::uint64_t size) noexcept {
    return static_cast<std::size_t>(std::countr_zero(size) - std::countr_zero(least));
  }
  // The thread that takes a block holds the lock, and moves what has come back to the lists by size.
  struct shelf {
    alignas(64) std::mutex lock;
    std::array<owned_block*, sizes> free{};
    std::atomic<std::uint64_t> taken{0};
    alignas(64) std::atomic<owned_block*> back{nullptr};  // the first of a list; &end_ once closed
    std::atomic<std::uint64_t> blocks{0}, bytes{0};       // kept, in both lists
  };
  static std::uint8_t shelf_of_this_thread() noexcept;
  bool put_back(owned_block& b) noexcept;
  static void sort(shelf& s, owned_block* came_back) noexcept;
  template <class Each>
  void empty(shelf& s, Each& each, owned_block* then);

  static constexpr std::size_t count = 16;
  std::array<shelf, count> shelves_;
  owned_block end_;  // only its address is used
};

template <class Each>
void upload_blocks::empty(shelf& s, Each& each, owned_block* then) {
  const std::scoped_lock guard(s.lock);
  if (s.back.load(std::memory_order_relaxed) == &end_) return;
  sort(s, s.back.exchange(then, std::memory_order_acquire));
  for (owned_block*& list : s.free)
    while (owned_block* const b = list) {
      list = b->next_kept;
      s.blocks.fetch_sub(1, std::memory_order_relaxed);
      s.bytes.fetch_sub(b->charged, std::memory_order_relaxed);
      each(*b);
    }
}

}  // namespace troupe
