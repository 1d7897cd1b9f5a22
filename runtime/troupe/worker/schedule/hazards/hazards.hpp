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

/// The position of an operation: number `sequence` in its lane, counted from 1.
struct position {
  std::uint32_t lane = 0;
  std::uint64_t sequence = 0;
  friend bool operator==(const position&, const position&) = default;
};

/// The number of complete operations of each lane.
using lane_progress = std::span<const std::uint64_t, max_lanes>;

/// The operations that an operation waits for: in each lane, all up to a sequence.
class wait_list {
 public:
  bool empty() const noexcept { return lanes_ == 0; }
  /// Returns the lanes of these operations, one bit each.
  std::uint32_t lanes() const noexcept { return lanes_; }
  /// Returns the sequence waited for in this lane; 0 if there is no wait for it.
  std::uint64_t sequence(std::uint32_t lane) const noexcept { return sequences_[lane]; }

  void add(position p) noexcept {
    if (p.sequence > sequences_[p.lane]) sequences_[p.lane] = p.sequence;
    lanes_ |= 1u << p.lane;
  }
  /// Drops the wait for this lane.
  void drop_lane(std::uint32_t lane) noexcept {
    sequences_[lane] = 0;
    lanes_ &= ~(1u << lane);
  }
  void clear() noexcept { *this = {}; }

  /// Calls `f(position)` for the last operation waited for in each lane.
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

/// The ways in which failures may reach a request through its inputs.
class failure_lookup {
 public:
  /// Returns the incomplete operations whose output the request reads, without duplicates. If one of them fails, the
  /// request must fail too.
  std::span<const position> producers() const noexcept {
    return spilled_.empty() ? std::span(few_).first(few_count_) : std::span<const position>(spilled_);
  }
  /// Returns the number of the first failure that has spoiled an input and that the request's caller does not know; 0
  /// if there is none.
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

/// Makes a device behave "as if one at a time": determines which earlier operations a request must wait for, and which
/// failures reach it.
///
/// For each request, in mailbox order, the caller calls `collect`, chooses a lane, and calls `drop_implied`,
/// `note_waited` and `commit`. For each range of bytes the tracker knows the last writer and, for each lane, the last
/// reader since that write. Not thread-safe.
///
/// The caller guarantees:
/// - Sequences of a lane start at 1 and grow from commit to commit.
/// - A lane completes its operations in order, each after everything it waits for. This **includes cancelled and
///   skipped operations**, because a later request waits for such an operation alone and relies on its waits.
/// - `poison` for a failed operation is called before any `collect` whose progress counts the operation as complete.
///   (So the caller reads the progress first, then the failures, and then collects.)
///
/// The tracker is unusable after a `std::bad_alloc`.
class hazard_tracker {
 public:
  hazard_tracker();
  hazard_tracker(const hazard_tracker&) = delete;
  hazard_tracker& operator=(const hazard_tracker&) = delete;
  ~hazard_tracker();

  /// Determines what a request with these accesses depends on, and stores that in `waits` and `failures`. Ignores
  /// poison numbered `seen` or lower, which the request's caller knows. Also forgets a limited amount of complete
  /// history.
  void collect(std::span<const memory_access> accesses, lane_progress completed, std::uint64_t seen, wait_list& waits,
               failure_lookup& failures);

  /// Drops waits that an operation on `lane` need not make: for its own lane, for operations that the lane has waited
  /// for before, and for those that the remaining waits have waited for.
  void drop_implied(std::uint32_t lane, wait_list& waits) const noexcept;
  /// Drops waits that the other waits imply, whatever the lane of the operation will be.
  void drop_implied(wait_list& waits) const noexcept;

  /// Notes the waits of the operation at `at`, which is the last of its lane so far.
  void note_waited(position at, const wait_list& waits) noexcept;

  /// Records these accesses of the operation at `at`, for later requests.
  void commit(std::span<const memory_access> accesses, position at);

  /// Marks the output of the operation at `by`, which failed or was skipped, as spoiled, except for bytes that a later
  /// request overwrites. Ignores reads among `written`. Failures are numbered from 1 in the order in which they became
  /// known.
  void poison(std::span<const memory_access> written, position by, std::uint64_t number);

  /// Forgets failures with numbers up to this one. Other poison stays until it is overwritten.
  void forget_poison_up_to(std::uint64_t number) noexcept;
  std::uint64_t forgotten() const noexcept { return forgotten_; }

  /// Returns the number of ranges that the tracker stores.
  std::size_t intervals() const noexcept;

 private:
  /// The waits that a wait for an operation of a lane implies.
  struct lane_clock {
    std::array<std::uint64_t, max_lanes> reached{};  ///< for each other lane, the sequence waited for
    std::uint64_t changed = 0;  ///< `reached` is valid for operations of this lane from this sequence on
  };
  class interval_map;

  std::unique_ptr<interval_map> map_;
  std::array<lane_clock, max_lanes> clocks_{};
  std::uint64_t forgotten_ = 0;
};

}  // namespace troupe
