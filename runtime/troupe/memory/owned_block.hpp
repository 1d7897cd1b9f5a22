// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/quota.hpp>
#include <troupe/memory/segment_source.hpp>
#include <troupe/memory/stale_ranges.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// A block with what the device's memory knows of it. Under that memory's lock.
struct owned_block : block {
  memory_kind kind = memory_kind::device;
  std::shared_ptr<memory_quota::state> quota;
  stale_ranges marks;
  std::uint64_t charged = 0;
  std::uint64_t sealable = 0;            ///< bytes, in whole granules; 0: it cannot be sealed
  std::uint32_t seals = 0;               ///< asked for so far
  bool read_only = false;                ///< in all workers
  bool imported = false;                 ///< counts among what others have made
  bool exported = false;                 ///< others may have a descriptor
  std::uint32_t addresses = 0;           ///< this program has, and can write it there
  seal_state before = seal_state::open;  ///< while it is unsealing
  /// Somebody else's, which only this block lies in; without bytes: not ours to map.
  std::unique_ptr<segment> foreign;

  /// As it is asked for; all of a block without memory.
  stale_ranges::range range_of(std::uint64_t begin, std::uint64_t end) const noexcept {
    return address == 0 ? stale_ranges::range::all() : stale_ranges::range{begin, end};
  }
  /// These bytes are written. Nothing can be where the block is gone.
  void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t before, bool losses = false) {
    if (!gone.load(std::memory_order_relaxed)) marks.cut({begin, end}, before, losses);
  }
  /// Only when the marks are whole: callers look at the count without the lock.
  void publish() noexcept { stale_marks.store(marks.size(), std::memory_order_seq_cst); }
};

}  // namespace troupe
