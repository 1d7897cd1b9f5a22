// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <troupe/protocol/words.hpp>
#include <troupe/request/block.hpp>
#include <vector>

namespace troupe {

/// Where an operation runs: it is the `sequence`-th of its lane, counted from 1.
struct position {
  std::uint32_t lane = 0;
  std::uint64_t sequence = 0;
  friend bool operator==(const position&, const position&) = default;
};

/// How many operations of each lane are complete.
using lane_progress = std::span<const std::uint64_t, max_lanes>;

/// What an operation must wait for: per lane, that its operations up to some sequence are complete.
class wait_list {
 public:
  bool empty() const noexcept { return lanes_ == 0; }
  /// One bit per lane that is waited for.
  std::uint32_t lanes() const noexcept { return lanes_; }
  /// 0: nothing of this lane is waited for.
  std::uint64_t sequence(std::uint32_t lane) const noexcept { return sequences_[lane]; }

  void add(position p) noexcept {
    if (p.sequence > sequences_[p.lane]) sequences_[p.lane] = p.sequence;
    lanes_ |= 1u << p.lane;
  }
  /// What runs on `lane` itself needs no wait for its predecessors there.
  void drop_lane(std::uint32_t lane) noexcept {
    sequences_[lane] = 0;
    lanes_ &= ~(1u << lane);
  }
  void clear() noexcept { *this = {}; }

  /// Calls `f(position)` for each lane waited for.
  template <class F>
  void for_each(F&& f) const {
    for (std::uint32_t rest = lanes_; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      f(position{lane, sequences_[lane]});
    }
  }

 private:
  std::array<std::uint64_t, max_lanes> sequences_{};
  std::uint32_t lanes_ = 0;
};

/// Through what a request's inputs may fail it.
class failure_lookup {
 public:
  /// The unfinished operations whose output the request reads. Should one fail, so must the request. No duplicates.
  std::span<const position> producers() const noexcept {
    return spilled_.empty() ? std::span(few_).first(few_count_) : std::span<const position>(spilled_);
  }
  /// The number of the first failure among those that have spoiled what the request reads and that its caller has not
  /// seen; 0: none.
  std::uint64_t poison() const noexcept { return poison_; }

  void clear() noexcept;

 private:
  friend class hazard_tracker;
  void add(position producer);
  void remove_duplicates();

  std::array<position, 8> few_;
  std::size_t few_count_ = 0;
  std::vector<position> spilled_;
  std::uint64_t poison_ = 0;
};

/// Keeps a device "as if one at a time": says which earlier operations a request must wait for, and which failures
/// reach it.
///
/// Requests pass in mailbox order: `collect`, choose a lane, `drop_implied`, `note_waited`, `commit`. Per range of
/// bytes the tracker knows the last writer and, per lane, the last reader since. One thread uses it.
///
/// What the caller promises:
/// - Sequences of a lane start at 1 and grow from commit to commit.
/// - A lane completes its operations in order, each after everything it waits for; **also those that are cancelled or
/// skipped**,
///   because later requests wait for such an operation alone and rely on what it waited for.
/// - `poison` for a failed operation comes before any `collect` whose progress counts the operation as complete.
///   (So read the progress first, then the failures, then collect.)
///
/// The tracker is unusable after a `std::bad_alloc`.
class hazard_tracker {
 public:
  hazard_tracker();
  hazard_tracker(const hazard_tracker&) = delete;
  hazard_tracker& operator=(const hazard_tracker&) = delete;
  ~hazard_tracker();

  /// What a request with these accesses depends on, given what is complete. Replaces the content of `waits` and
  /// `failures`. Poison numbered `seen` or lower does not count: the request's caller has been told already. Also
  /// forgets a bounded amount of what is complete.
  void collect(std::span<const memory_access> accesses, lane_progress completed, std::uint64_t seen, wait_list& waits,
               failure_lookup& failures);

  /// Drops waits that an operation on `lane` need not make: its own lane, what the lane has waited for before, and what
  /// the remaining waits have waited for.
  void drop_implied(std::uint32_t lane, wait_list& waits) const noexcept;

  /// The operation at `at`, the last of its lane so far, makes these waits.
  void note_waited(position at, const wait_list& waits) noexcept;

  /// Later requests see these accesses as made by the operation at `at`.
  void commit(std::span<const memory_access> accesses, position at);

  /// The operation at `by` has failed or was skipped. What it wrote is spoiled, except where a later request overwrites
  /// it. Reads among `written` are ignored. Failures are numbered from 1 in the order they became known.
  void poison(std::span<const memory_access> written, position by, std::uint64_t number);

  /// Nobody wants to hear of failures up to this one any more. Other poison stays until it is overwritten.
  void forget_poison_up_to(std::uint64_t number) noexcept;
  std::uint64_t forgotten() const noexcept { return forgotten_; }

  /// Ranges kept at present.
  std::size_t intervals() const noexcept;

 private:
  /// What waiting for a lane implies.
  struct lane_clock {
    std::array<std::uint64_t, max_lanes> reached{};  ///< per other lane, what this one has waited for
    std::uint64_t changed = 0;                       ///< true for operations of this lane from this sequence on
  };
  class interval_map;

  std::unique_ptr<interval_map> map_;
  std::array<lane_clock, max_lanes> clocks_{};
  std::uint64_t forgotten_ = 0;
};

}  // namespace troupe
