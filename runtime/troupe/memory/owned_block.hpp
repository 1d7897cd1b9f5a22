// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/quota.hpp>
#include <troupe/memory/segment_source.hpp>
#include <troupe/memory/stale_ranges.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// A block with the bookkeeping of the device's memory, whose lock guards it.
struct owned_block : block {
  memory_kind kind = memory_kind::device;
  std::shared_ptr<memory_quota::state> quota;
  stale_ranges marks;
  std::uint32_t expected = 0;  ///< how many `marking`s may add marks
  std::uint64_t charged = 0;
  std::uint64_t sealable = 0;            ///< bytes, in whole granules; 0: the block cannot be sealed
  std::uint32_t seals = 0;               ///< seals requested so far
  bool read_only = false;                ///< true if the block is read-only in all workers
  bool imported = false;                 ///< true if the block counts as memory of other programs
  bool exported = false;                 ///< true if another program may have a descriptor
  std::uint32_t addresses = 0;           ///< number of addresses at which this program can write the block
  std::uint8_t shelf = 0;                ///< for `upload_blocks`; 0: the block is none of these
  owned_block* next_kept = nullptr;      ///< for `upload_blocks`
  seal_state before = seal_state::open;  ///< the state before `unsealing`
  /// A foreign segment that holds only this block. Without bytes, this program does not map it.
  std::unique_ptr<segment> foreign;

  /// Returns the range [begin, end), or everything for a block without memory.
  stale_ranges::range range_of(std::uint64_t begin, std::uint64_t end) const noexcept {
    return address == 0 ? stale_ranges::range::all() : stale_ranges::range{begin, end};
  }
  /// Removes marks of bytes that are written. A block that is gone keeps its marks.
  void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t before, bool losses = false) {
    if (!gone.load(std::memory_order_relaxed)) marks.cut({begin, end}, before, losses);
  }
  /// Publishes the number of marks, also of expected ones, which callers read without the lock. Must be called once the
  /// marks are complete.
  void publish() noexcept { stale_marks.store(marks.size() + expected, std::memory_order_seq_cst); }
};

}  // namespace troupe
