// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <troupe/memory/blocks/arena.hpp>
#include <troupe/memory/blocks/owned_block.hpp>
#include <troupe/memory/statistics.hpp>
#include <vector>

namespace troupe {

/// The segments of a device's memory and the blocks in them, for each kind of memory: which memory is free, how much
/// may be used, and when segments are added or released. Guarded by the lock of device_memory.
class segment_pools {
 public:
  struct limits {
    std::uint64_t device_bytes;
    std::uint64_t host_bytes;
    std::uint64_t seal_granule = 4096;  ///< the engine makes memory read-only in units of this size; a power of two
    bool seals_segments = false;        ///< true if only whole segments can be made read-only
  };

  segment_pools(segment_source& source, limits l);
  ~segment_pools();

  /// Ends allocation: from now on there is no source of memory.
  void abandon() noexcept { source_ = nullptr; }
  /// Returns null after `abandon`.
  segment_source* source() const noexcept { return source_; }
  bool seals_segments() const noexcept { return seals_segments_; }

  /// Returns the bytes that an allocation occupies and that count against the limit and the quota. The result is less
  /// than `bytes` if it does not fit 64 bits.
  static std::uint64_t charged_for(std::uint64_t bytes) noexcept;
  /// The size, the alignment and the charged bytes of a block.
  struct shape {
    std::uint64_t size, alignment, charged;
  };
  result<shape> shape_of(std::uint64_t bytes, std::uint64_t alignment, bool sealable) const;
  /// Returns the error if a block of this shape can never fit.
  std::optional<error> never_fits(memory_kind kind, const shape& s, std::uint64_t bytes, bool sealable) const;
  /// Allocates a block with one reference and without an owner. May release `guard` while a segment is prepared.
  result<owned_block*> take(memory_kind kind, const shape& s, std::uint64_t bytes, bool sealable,
                            std::unique_lock<std::mutex>& guard);
  void give_back(owned_block& b);
  /// Returns the block at this address of device memory; null if there is none.
  const owned_block* find(std::uint64_t address) const noexcept;
  void count_failure(memory_kind kind) noexcept;

  void set_device_limit(std::uint64_t bytes) noexcept;
  /// Releases unused segments. Returns the number of freed bytes.
  std::uint64_t trim();
  /// Returns the figures of a kind of memory, without memory outside of segments. `host` and `sent` count as one kind.
  memory_statistics statistics(memory_kind kind) const;

 private:
  struct pool;
  pool& pool_for(memory_kind kind, bool sealable) const noexcept;
  std::span<const std::unique_ptr<pool>> pools_of(memory_kind kind) const noexcept;
  bool has_single_blocks(const pool& p) const noexcept;  // true if each segment has one block
  std::uint64_t used_bytes(memory_kind kind) const noexcept;
  std::uint64_t release_idle(pool& p);
  std::uint64_t release_idle(memory_kind kind);  // of all pools that share the kind's limit
  bool grow(pool& p, std::unique_lock<std::mutex>& guard, std::uint64_t bytes, std::optional<error>& why);
  result<segment> make(pool& p, std::unique_lock<std::mutex>& guard, std::uint64_t bytes, bool after_release);
  error no_room(memory_kind kind, const pool& p, std::uint64_t bytes) const;

  segment_source* source_;
  std::array<std::unique_ptr<pool>, 4> pools_;  // device memory that can be sealed, other device memory, host, sent
  const std::uint64_t seal_granule_;
  const bool seals_segments_;
  bool growing_ = false;  // true while a thread prepares a segment, without the lock of device_memory
  std::condition_variable grown_;
  std::uint64_t high_water_[2] = {};  // of device memory, and of host memory
};

}  // namespace troupe
