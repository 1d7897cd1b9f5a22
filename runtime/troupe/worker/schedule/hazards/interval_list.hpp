// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Included only by hazards.cpp. The unnamed namespace lets the compiler inline functions that are called once, which
// the speed of each request depends on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/worker/schedule/hazards/interval_index.hpp>
#include <utility>
#include <vector>

namespace troupe {
namespace {

/// Disjoint intervals in order: a linked list, an index into it, and two caches in front of the index, because most
/// requests use the same few buffers again, or the neighbors of those used last. Intervals never move, and their memory
/// is reused for intervals only. So a cached pointer may be outdated but never invalid: it suffices to check that its
/// interval contains the address.
class interval_list {
 public:
  interval_list() {
    end_.previous = end_.next = &end_;
    last_.fill(&end_);
  }

  std::size_t size() const noexcept { return size_; }

  /// Returns the first interval that ends after x, or one that begins at the end of all memory. `operand` is the index
  /// of the access among those of its request: the interval found last is cached for each index, because consecutive
  /// requests often step through the same buffers in the same order.
  interval* first_after(std::uint64_t x, std::size_t operand) noexcept {
    interval*& last = last_[operand % last_.size()];
    if (last->begin < last->end && last->begin <= x) {  // the cached interval is in use
      if (x < last->end) return last;
      interval* const next = last->next;
      if (x < next->begin) return next;
      if (x < next->end) return last = next;
    }
    interval*& recent = recent_[(x * 0x9e3779b97f4a7c15u) >> (64 - recent_bits)];
    if (recent && recent->begin <= x && x < recent->end) return last = recent;
    interval* found = index_.at_or_before(x);
    if (!found) return end_.next;
    last = found;
    if (found->end <= x) return found->next;
    return recent = found;
  }

  /// Splits `i` so that its part within [begin, end) is a separate interval, and returns that interval.
  interval* clip(interval* i, std::uint64_t begin, std::uint64_t end) {
    if (i->begin < begin) i = split(i, begin);
    if (i->end > end) split(i, end);
    return i;
  }

  /// Inserts an interval without history.
  interval* insert_before(interval* next, std::uint64_t begin, std::uint64_t end, std::size_t operand) {
    interval* added = take();
    added->begin = begin;
    added->end = end;
    added->writer = 0;
    added->poison = 0;
    added->readers = 0;
    link_before(next, added);
    return last_[operand % last_.size()] = added;
  }

  /// Replaces everything in [begin, end) by one interval, and returns it. The caller sets its history.
  interval* replace(std::uint64_t begin, std::uint64_t end, std::size_t operand) {
    interval* first = first_after(begin, operand);
    if (first->begin == begin && first->end == end) return first;
    if (first->begin < begin) first = split(first, begin);
    if (first->begin >= end) return insert_before(first, begin, end, operand);
    if (first->end > end) {
      split(first, end);
    } else {
      while (first->next->begin < end && first->next->end <= end) erase(first->next);
      if (first->next->begin < end) set_begin(first->next, end);
    }
    if (first->begin != begin) set_begin(first, begin);
    first->end = end;
    return first;
  }

  /// Drops complete history and merges neighbors with the same history, in small steps: a few for each call and each
  /// new interval. A new sweep starts only when there are many more intervals than the last sweep left, or after many
  /// calls, so that a working set stays in place.
  void sweep(lane_progress completed, std::uint64_t forgotten) noexcept {
    const std::size_t steps = 4 + 2 * std::exchange(added_, 0);
    if (!cursor_) {
      ++rested_;
      if (size_ <= few || (size_ <= threshold_ && rested_ < 8 * size_)) return;
      cursor_ = end_.next;
      rested_ = 0;
    }
    for (std::size_t n = 0; n < steps && cursor_ != &end_; ++n) {
      interval* i = cursor_;
      cursor_ = i->next;
      if (!i->refresh(completed, forgotten)) {
        erase(i);
      } else if (interval* p = i->previous; p->end == i->begin && p->has_same_history(*i)) {
        const std::uint64_t end = i->end;
        erase(i);
        p->end = end;
      }
    }
    if (cursor_ == &end_) {
      cursor_ = nullptr;
      threshold_ = std::max(few, 2 * size_);
    }
  }

 private:
  static constexpr std::size_t few = 256;  ///< a number that is not worth a sweep
  static constexpr std::size_t block_size = 128;
  static constexpr int recent_bits = 9;

  interval* split(interval* i, std::uint64_t at) {
    interval* right = take();
    interval* const next = i->next;
    *right = *i;
    right->begin = at;
    i->end = at;
    link_before(next, right);
    return right;
  }

  void set_begin(interval* i, std::uint64_t begin) {
    index_.erase(*i);
    i->begin = begin;
    enter(i);
  }

  void enter(interval* i) {
    const auto neighbour = [this](interval* n) { return n == &end_ ? nullptr : n; };
    index_.insert(i, neighbour(i->previous), neighbour(i->next));
  }

  void link_before(interval* next, interval* added) {
    added->next = next;
    added->previous = next->previous;
    next->previous->next = added;
    next->previous = added;
    enter(added);
    ++size_;
    ++added_;
  }

  void erase(interval* i) noexcept {
    if (cursor_ == i) cursor_ = i->next;
    index_.erase(*i);
    i->previous->next = i->next;
    i->next->previous = i->previous;
    i->end = i->begin;
    i->next = std::exchange(free_, i);
    --size_;
  }

  interval* take() {
    if (!free_) {
      blocks_.push_back(std::make_unique<interval[]>(block_size));
      for (std::size_t n = block_size; n-- > 0;) blocks_.back()[n].next = std::exchange(free_, &blocks_.back()[n]);
    }
    return std::exchange(free_, free_->next);
  }

  interval end_{.begin = UINT64_MAX, .end = UINT64_MAX};
  interval_index index_;
  std::array<interval*, std::size_t{1} << recent_bits> recent_{};
  std::array<interval*, 4> last_;  ///< by index of the operand
  std::vector<std::unique_ptr<interval[]>> blocks_;
  interval* free_ = nullptr;
  std::size_t size_ = 0;
  std::size_t added_ = 0;        ///< intervals since the last sweep
  interval* cursor_ = nullptr;   ///< next interval of the current sweep; null: there is none
  std::size_t threshold_ = few;  ///< a larger number of intervals starts a sweep
  std::size_t rested_ = 0;       ///< number of calls since the last sweep
};

}  // namespace
}  // namespace troupe
