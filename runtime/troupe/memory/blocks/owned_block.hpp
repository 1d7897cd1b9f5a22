// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/blocks/segment_source.hpp>
#include <troupe/memory/blocks/stale_ranges.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

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
  /// Publishes the number of marks, including announced ones, for callers that read it without the lock. Must be called
  /// after each change of the marks.
  void publish() noexcept { stale_marks.store(marks.size() + expected, std::memory_order_seq_cst); }
};

}  // namespace troupe
