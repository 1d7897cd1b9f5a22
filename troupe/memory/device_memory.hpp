// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/memory/arena.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

enum class memory_kind : std::uint8_t {
  device,  ///< seen by the worker only
  host,    ///< seen by the application too
};

/// Memory that has been made and that the worker maps, or will before it needs it.
struct segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;  ///< where the application has it mapped; only memory_kind::host
};

/// Makes memory for a device. Called under the lock of the device's memory.
class segment_source {
 public:
  /// A new segment of at least `bytes`.
  virtual result<segment> grow(memory_kind kind, std::uint64_t bytes) = 0;
  /// The segment is not used any more.
  virtual void shrink(memory_kind kind, const segment& s) noexcept = 0;

 protected:
  ~segment_source() = default;
};

/// True figures at one moment.
struct memory_statistics {
  std::uint64_t total_bytes = 0;       ///< what the device may hand out
  std::uint64_t free_bytes = 0;        ///< total less used
  std::uint64_t used_bytes = 0;        ///< in live buffers, rounded up to 256 each
  std::uint64_t high_water_bytes = 0;  ///< the most ever used at once
  std::uint64_t reserved_bytes = 0;    ///< taken from the system so far
  std::uint64_t live_buffers = 0;
  std::uint64_t allocations = 0;       ///< ever made
  std::uint64_t failed_allocations = 0;
  double fragmentation = 0;            ///< 0: all free reserved memory is one range
};

/// The memory of one device, kept by the application: blocks, their accounting, and which of their bytes are stale.
/// Thread safe. Lives until it is abandoned and its last block has come back.
class device_memory final : public memory_owner {
 public:
  struct limits {
    std::uint64_t device_bytes;
    std::uint64_t host_bytes;
  };

  static device_memory* make(segment_source& source, limits l) { return new device_memory(source, l); }
  /// No more memory is made; the object goes with its last block.
  void abandon() noexcept;

  /// A block with one reference, or why there is none: retry_later when memory or quota are used up.
  result<block_ref> allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment, const memory_quota& quota);
  block_ref stillborn(std::uint64_t bytes, error cause) override;
  /// Gives unused segments back to the system; answers how many bytes.
  std::uint64_t trim();
  memory_statistics statistics(memory_kind kind) const;

  /// The bytes do not hold what request `ticket` should have written.
  void mark_stale(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket, const error& cause);
  /// Request `ticket` replaces these bytes: marks of earlier requests go.
  void mark_written(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
  /// All memory made so far belongs to a generation that is gone: nothing of it may be used.
  std::uint64_t generation() const noexcept { return generation_; }

  void recycle(block& b) noexcept override;
  std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end) const override;

 private:
  struct mark;
  struct owned_block;
  struct pool;
  device_memory(segment_source& source, limits l);
  ~device_memory();
  bool grow(pool& p, memory_kind kind, std::uint64_t bytes, std::optional<error>& why);

  mutable std::mutex lock_;
  segment_source* source_;  // null once abandoned
  std::unique_ptr<pool> pools_[2];
  std::uint64_t blocks_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace troupe
