// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Included only by hazards.cpp. The unnamed namespace lets the compiler inline functions that are called once, which
// the speed of each request depends on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/worker/schedule/hazards/interval.hpp>
#include <vector>

namespace troupe {
namespace {

/// Returns the number of sorted keys that are <= x. Has no branches, which would be mispredicted.
std::size_t count_up_to(const std::uint64_t* keys, std::size_t n, std::uint64_t x) noexcept {
  const std::uint64_t* base = keys;
  while (n > 1) {
    const std::size_t half = n / 2;
    base += static_cast<std::size_t>(base[half - 1] <= x) * half;
    n -= half;
  }
  return static_cast<std::size_t>(base - keys) + (n != 0 && *base <= x ? 1 : 0);
}

/// Some consecutive intervals. Insertion at the end and removal at the front, the usual cases in a long run of
/// requests, move no others.
class chunk {
 public:
  static constexpr std::size_t capacity = 64;
  std::uint64_t key = 0;  ///< at most the begin of every interval here, and above those of the previous chunk

  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return size_ == capacity; }
  interval* at(std::size_t i) const noexcept { return intervals_[first_ + i]; }
  /// Returns the number of intervals that begin at or before x.
  std::size_t up_to(std::uint64_t x) const noexcept { return count_up_to(begins(), size_, x); }

  void insert(interval* added) noexcept {
    added->home = this;
    if (first_ + size_ == capacity) move_down();
    std::size_t place = first_ + size_;
    if (size_ != 0 && begins_[place - 1] > added->begin) {
      const std::size_t last = place;
      place = first_ + up_to(added->begin);
      std::copy_backward(begins_ + place, begins_ + last, begins_ + last + 1);
      std::copy_backward(intervals_ + place, intervals_ + last, intervals_ + last + 1);
    }
    begins_[place] = added->begin;
    intervals_[place] = added;
    ++size_;
  }
  void erase(const interval& i) noexcept {
    --size_;
    if (begins_[first_] == i.begin) {
      ++first_;
      return;
    }
    const std::size_t place = first_ + count_up_to(begins(), size_ + 1, i.begin) - 1;
    std::copy(begins_ + place + 1, begins_ + first_ + size_ + 1, begins_ + place);
    std::copy(intervals_ + place + 1, intervals_ + first_ + size_ + 1, intervals_ + place);
  }
  /// Moves the intervals from number `from` on to the end of `other`. Precondition: `other` has room for them.
  void move_to_end_of(chunk& other, std::size_t from) noexcept {
    other.move_down();
    for (std::size_t i = from; i < size_; ++i) {
      other.begins_[other.size_] = begins()[i];
      other.intervals_[other.size_++] = at(i);
      at(i)->home = &other;
    }
    size_ = from;
  }

 private:
  const std::uint64_t* begins() const noexcept { return begins_ + first_; }
  void move_down() noexcept {
    std::copy(begins_ + first_, begins_ + first_ + size_, begins_);
    std::copy(intervals_ + first_, intervals_ + first_ + size_, intervals_);
    first_ = 0;
  }

  std::size_t first_ = 0, size_ = 0;
  std::uint64_t begins_[capacity];
  interval* intervals_[capacity];
};

/// Finds intervals by their begin: chunks, and a sorted list of the chunks' keys. An interval knows its chunk, so only
/// a search that does not start from an interval reads the keys.
class interval_index {
 public:
  /// Returns the last interval that begins at or before x, or null.
  interval* at_or_before(std::uint64_t x) const noexcept {
    if (chunks_.empty()) return nullptr;
    const std::size_t i = chunk_of(x);
    if (const std::size_t up_to = chunks_[i]->up_to(x); up_to != 0) return chunks_[i]->at(up_to - 1);
    if (i == 0) return nullptr;
    const chunk& before = *chunks_[i - 1];
    return before.at(before.size() - 1);
  }

  /// Inserts an interval between its neighbors `previous` and `next`, which may be null.
  void insert(interval* added, const interval* previous, const interval* next) {
    if (chunks_.empty()) {
      chunks_.push_back(std::make_unique<chunk>());
      keys_.push_back(0);
    }
    chunk* c = previous ? previous->home : chunks_.front().get();
    if (next && next->home->key <= added->begin) c = next->home;
    if (c->full()) {
      chunk* const upper = split(chunk_of(c->at(0)->begin));
      if (upper->key < added->begin) c = upper;
    }
    c->insert(added);
  }

  void erase(const interval& i) noexcept {
    chunk& c = *i.home;
    c.erase(i);
    if (c.size() > chunk::capacity / 4) return;
    const std::size_t at = chunk_of(i.begin);
    if (c.size() == 0) {
      remove(at);
    } else if (at + 1 < chunks_.size() && c.size() + chunks_[at + 1]->size() <= chunk::capacity / 2) {
      chunks_[at + 1]->move_to_end_of(c, 0);
      remove(at + 1);
    }
  }

 private:
  std::size_t chunk_of(std::uint64_t x) const noexcept { return count_up_to(keys_.data(), keys_.size(), x) - 1; }

  /// Splits chunk `i`, and returns the chunk with the upper half.
  chunk* split(std::size_t i) {
    const auto next = static_cast<std::ptrdiff_t>(i) + 1;
    auto made = std::make_unique<chunk>();
    chunk* const upper = made.get();
    chunks_[i]->move_to_end_of(*upper, chunk::capacity / 2);
    upper->key = upper->at(0)->begin;
    keys_.insert(keys_.begin() + next, upper->key);
    chunks_.insert(chunks_.begin() + next, std::move(made));
    return upper;
  }
  void remove(std::size_t i) noexcept {
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(i));
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!keys_.empty()) keys_[0] = chunks_[0]->key = 0;
  }

  std::vector<std::uint64_t> keys_;  ///< the key of each chunk; the first is 0
  std::vector<std::unique_ptr<chunk>> chunks_;
};

}  // namespace
}  // namespace troupe
