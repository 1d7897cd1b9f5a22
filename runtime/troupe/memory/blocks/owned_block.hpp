// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <troupe/memory/blocks/stale_ranges.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

enum class memory_kind : std::uint8_t {
  device,  ///< mapped by the worker only
  host,    ///< mapped by the application too
  sent,    ///< like `host`, but read-only for workers; counts as host memory
};

/// The alignment of segments: their addresses and sizes are multiples of this.
inline constexpr std::uint64_t segment_alignment = std::uint64_t{2} << 20;

/// A range of memory that the worker maps, before the first request that uses it.
struct segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;         ///< the application's address of the segment; null for memory_kind::device
  std::shared_ptr<const void> keep;  ///< keeps the memory; lives as long as any of its blocks
};

/// Makes the segments of a device. Called with the lock of device_memory held, unless stated otherwise.
class segment_source {
 public:
  /// Does the slow part of making a segment, if there is one. Called without the lock, by one thread at a time.
  /// `after_release` is true if segments were just released, so that it pays to wait until the system has their memory
  /// back. Fails with `retry_later`, with the code ETIMEDOUT if the worker did not answer, and without it if memory is
  /// short.
  virtual result<file_descriptor> prepare(memory_kind, std::uint64_t, bool after_release) {
    (void)after_release;
    return file_descriptor();
  }
  /// Makes a segment of at least `bytes`.
  virtual result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) = 0;
  /// Maps memory of another device, or memory shared by two devices, for the workers of this one.
  virtual result<segment> attach(memory_kind, std::uint64_t, file_descriptor, bool) {
    return error(reaction::unsupported, "memory", "this memory cannot be shared with other devices");
  }
  /// Unmaps a segment that is no longer used.
  virtual void shrink(memory_kind kind, const segment& s) noexcept = 0;
  /// Makes these bytes read-only, or writable again, in every present and later worker except worker `by` (0: none), in
  /// which a request does it in its order.
  virtual void protect(std::uint64_t address, std::uint64_t bytes, bool read_only, std::uint32_t by) noexcept = 0;
  /// Returns the last ticket: no request accepted so far has a larger one, and every later request has. Returns 0
  /// before the first request. May be called without the lock.
  virtual std::uint64_t last_ticket() const noexcept = 0;

 protected:
  ~segment_source() = default;
};

/// A block with the data that device_memory keeps about it. Guarded by the lock of device_memory.
struct owned_block : block {
  memory_kind kind = memory_kind::device;
  std::shared_ptr<memory_quota::state> quota;
  stale_ranges marks;
  std::uint32_t expected = 0;  ///< number of `marking`s that have announced marks of it
  std::uint64_t charged = 0;
  std::uint64_t sealable = 0;            ///< bytes that can be sealed, in whole granules; 0: the block cannot be sealed
  std::uint32_t seals = 0;               ///< number of seals requested so far
  bool read_only = false;                ///< true if the block is read-only in all workers
  bool imported = false;                 ///< true if the block counts as imported memory
  bool exported = false;                 ///< true if another program may have a descriptor of it
  std::uint32_t addresses = 0;           ///< number of addresses at which this program can write the block
  std::uint8_t shelf = 0;                ///< `upload_blocks`: the shelf it belongs to, counted from 1; 0: none
  owned_block* next_kept = nullptr;      ///< `upload_blocks`: the next block on the shelf
  seal_state before = seal_state::open;  ///< the state before `unsealing`
  /// The segment that holds only this block, for memory that is imported, attached or managed. If it has 0 bytes, this
  /// program does not map it.
  std::unique_ptr<segment> foreign;

  /// Returns the range [begin, end); for a block without memory, the range of all addresses.
  stale_ranges::range range_of(std::uint64_t begin, std::uint64_t end) const noexcept {
    return address == 0 ? stale_ranges::range::all() : stale_ranges::range{begin, end};
  }
  /// Removes the marks of bytes that are written. A block that is gone keeps its marks.
  void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t before, bool losses = false) {
    if (!gone.load(std::memory_order_relaxed)) marks.cut({begin, end}, before, losses);
  }
  /// Publishes the number of marks, including announced ones, for callers that read it without the lock of
  /// device_memory. Must be called after each change of the marks.
  void publish() noexcept { stale_marks.store(marks.size() + expected, std::memory_order_seq_cst); }
};

}  // namespace troupe
