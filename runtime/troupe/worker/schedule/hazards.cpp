// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <troupe/worker/schedule/hazards.hpp>
#include <tuple>

namespace troupe {
namespace {

/// A position in one word, 0 for none.
using operation = std::uint64_t;
static_assert(max_lanes == 16);

operation pack(position p) noexcept { return p.sequence << 4 | p.lane; }
position unpack(operation o) noexcept { return {static_cast<std::uint32_t>(o & 15), o >> 4}; }
bool is_open(operation o, lane_progress completed) noexcept { return o >> 4 > completed[o & 15]; }

class chunk;

/// Bytes that share their history. The first cache line is all that a search or a write looks at.
struct alignas(64) interval {
  std::uint64_t begin = 0;  ///< begin == end: not in use
  std::uint64_t end = 0;
  interval* previous = nullptr;
  interval* next = nullptr;
  operation writer = 0;
  std::uint64_t poison = 0;
  chunk* home = nullptr;                         ///< of the index
  std::uint32_t readers = 0;                     ///< lanes that have read since the write
  std::array<std::uint64_t, max_lanes> reads{};  ///< their last sequences; others are meaningless

  template <class F>
  void for_each_reader(F&& f) const {
    for (std::uint32_t rest = readers; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      f(position{lane, reads[lane]});
    }
  }

  bool has_history_of(const interval& o) const noexcept {
    if (writer != o.writer || readers != o.readers || poison != o.poison) return false;
    bool equal = true;
    for_each_reader([&](position p) { equal &= o.reads[p.lane] == p.sequence; });
    return equal;
  }

  /// Drops what is complete. False when nothing is left.
  bool refresh(lane_progress completed, std::uint64_t forgotten) noexcept {
    for_each_reader([&](position p) {
      if (p.sequence <= completed[p.lane]) readers &= ~(1u << p.lane);
    });
    if (!is_open(writer, completed)) writer = 0;
    if (poison <= forgotten) poison = 0;
    return writer != 0 || readers != 0 || poison != 0;
  }
};

/// How many of the sorted keys are <= x. Without branches, which would be mispredicted.
std::size_t count_up_to(const std::uint64_t* keys, std::size_t n, std::uint64_t x) noexcept {
  const std::uint64_t* base = keys;
  while (n > 1) {
    const std::size_t half = n / 2;
    base += static_cast<std::size_t>(base[half - 1] <= x) * half;
    n -= half;
  }
  return static_cast<std::size_t>(base - keys) + (n != 0 && *base <= x ? 1 : 0);
}

/// Neighbours in order. What comes last and what goes first, as most of a long run of requests does, moves nothing.
class chunk {
 public:
  static constexpr std::size_t capacity = 64;
  std::uint64_t key = 0;  ///< at or below all of them, above all of the chunk before

  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return size_ == capacity; }
  interval* at(std::size_t i) const noexcept { return intervals_[first_ + i]; }
  /// How many begin at or before x.
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
  /// All from the `from`-th on go to the end of `other`, which has room for them.
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

/// Finds intervals by where they begin: chunks, and a sorted list of their keys. An interval knows its chunk, so that
/// only a search from nowhere looks at the keys.
class interval_index {
 public:
  /// The last interval that begins at or before x, or null.
  interval* at_or_before(std::uint64_t x) const noexcept {
    if (chunks_.empty()) return nullptr;
    const std::size_t i = chunk_of(x);
    if (const std::size_t up_to = chunks_[i]->up_to(x); up_to != 0) return chunks_[i]->at(up_to - 1);
    if (i == 0) return nullptr;
    const chunk& before = *chunks_[i - 1];
    return before.at(before.size() - 1);
  }

  /// `previous` and `next` are its neighbours, or null.
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

  /// Returns the upper half.
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

  std::vector<std::uint64_t> keys_;  ///< of the chunks; the first is 0
  std::vector<std::unique_ptr<chunk>> chunks_;
};

}  // namespace

/// Disjoint intervals in order: a linked list, an index to enter it, and two caches in front of the index, because most
/// requests use the same few buffers again, or the neighbours of those used last. Intervals never move and their memory
/// is reused only for intervals, so a cached pointer may be outdated but never wild: whether the interval contains the
/// address looked for is all there is to check.
class hazard_tracker::interval_map {
 public:
  interval_map() {
    end_.previous = end_.next = &end_;
    last_.fill(&end_);
  }

  std::size_t size() const noexcept { return size_; }

  /// The first interval that ends after x, or one that begins at the end of all memory. `operand` is the place of x in
  /// its request: a run of requests often goes through each of its buffers step by step.
  interval* first_after(std::uint64_t x, std::size_t operand) noexcept {
    interval*& last = last_[operand % last_.size()];
    if (last->begin < last->end && last->begin <= x) {  // it is in use
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

  /// The part of `i` that lies within [begin, end), made an interval of its own.
  interval* clip(interval* i, std::uint64_t begin, std::uint64_t end) {
    if (i->begin < begin) i = split(i, begin);
    if (i->end > end) split(i, end);
    return i;
  }

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

  /// One interval for exactly [begin, end), in place of whatever is there. Its history is up to the caller.
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

  /// Drops what is complete and joins what has become equal; in small steps, a few for each call and each new interval.
  /// Starts over only when there are many more intervals than the last time left, or after a long rest: a working set
  /// stays in place.
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
      } else if (interval* p = i->previous; p->end == i->begin && p->has_history_of(*i)) {
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
  static constexpr std::size_t few = 256;  ///< not worth a sweep
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
  std::array<interval*, 4> last_;  ///< by operand
  std::vector<std::unique_ptr<interval[]>> blocks_;
  interval* free_ = nullptr;
  std::size_t size_ = 0;
  std::size_t added_ = 0;        ///< since the last sweep
  interval* cursor_ = nullptr;   ///< of the sweep under way
  std::size_t threshold_ = few;  ///< more intervals than this start a sweep
  std::size_t rested_ = 0;       ///< calls since the last sweep
};

void failure_lookup::clear() noexcept {
  few_count_ = 0;
  spilled_.clear();
  poison_ = 0;
}

void failure_lookup::add(position producer) {
  if (spilled_.empty()) {
    if (std::find(few_.begin(), few_.begin() + few_count_, producer) != few_.begin() + few_count_) return;
    if (few_count_ < few_.size()) {
      few_[few_count_++] = producer;
      return;
    }
    spilled_.assign(few_.begin(), few_.end());
  }
  if (spilled_.back() != producer) spilled_.push_back(producer);
}

void failure_lookup::remove_duplicates() {
  if (spilled_.empty()) return;
  const auto key = [](const position& p) { return std::tuple(p.lane, p.sequence); };
  std::sort(spilled_.begin(), spilled_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  spilled_.erase(std::unique(spilled_.begin(), spilled_.end()), spilled_.end());
}

hazard_tracker::hazard_tracker() : map_(std::make_unique<interval_map>()) {}
hazard_tracker::~hazard_tracker() = default;

void hazard_tracker::collect(std::span<const memory_access> accesses, lane_progress completed, std::uint64_t seen,
                             wait_list& waits, failure_lookup& failures) {
  waits.clear();
  failures.clear();
  map_->sweep(completed, forgotten_);
  const std::uint64_t known = std::max(seen, forgotten_);
  std::uint64_t& first = failures.poison_;
  for (const memory_access& a : accesses) {
    if (a.begin >= a.end) continue;
    const auto operand = static_cast<std::size_t>(&a - accesses.data());
    for (const interval* i = map_->first_after(a.begin, operand); i->begin < a.end; i = i->next) {
      const bool writer_open = is_open(i->writer, completed);
      if (a.mode != access_mode::read && i->readers != 0) {  // the readers have waited for the writer
        i->for_each_reader([&](position p) {
          if (p.sequence > completed[p.lane]) waits.add(p);
        });
      } else if (writer_open) {
        waits.add(unpack(i->writer));
      }
      if (a.mode == access_mode::write) continue;
      if (writer_open) failures.add(unpack(i->writer));
      if (i->poison > known && (first == 0 || i->poison < first)) first = i->poison;
    }
  }
  failures.remove_duplicates();
}

void hazard_tracker::drop_implied(std::uint32_t lane, wait_list& waits) const noexcept {
  waits.drop_lane(lane);
  waits.for_each([&](position p) {
    if (clocks_[lane].reached[p.lane] >= p.sequence) waits.drop_lane(p.lane);
  });
  if (std::popcount(waits.lanes()) < 2) return;
  // "Runs after" has no cycles, so waits cannot drop each other: the last of any chain stays.
  const wait_list all = waits;
  all.for_each([&](position later) {
    const lane_clock& clock = clocks_[later.lane];
    if (later.sequence < clock.changed) return;
    all.for_each([&](position p) {
      if (p.lane != later.lane && clock.reached[p.lane] >= p.sequence) waits.drop_lane(p.lane);
    });
  });
}

void hazard_tracker::note_waited(position at, const wait_list& waits) noexcept {
  if (waits.empty()) return;
  lane_clock& clock = clocks_[at.lane];
  const auto before = clock.reached;
  waits.for_each([&](position p) {
    if (p.lane == at.lane) return;
    clock.reached[p.lane] = std::max(clock.reached[p.lane], p.sequence);
    const lane_clock& theirs = clocks_[p.lane];
    if (p.sequence < theirs.changed) return;  // it runs before some of what is noted there
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
      clock.reached[lane] = std::max(clock.reached[lane], theirs.reached[lane]);
    }
  });
  if (clock.reached != before) clock.changed = at.sequence;
}

void hazard_tracker::commit(std::span<const memory_access> accesses, position at) {
  assert(at.lane < max_lanes && at.sequence != 0);
  const operation self = pack(at);
  for (const memory_access& a : accesses) {
    if (a.begin >= a.end) continue;
    const auto operand = static_cast<std::size_t>(&a - accesses.data());
    if (a.mode != access_mode::read) {
      interval* i = map_->replace(a.begin, a.end, operand);
      i->writer = self;
      i->poison = 0;
      i->readers = 0;
      continue;
    }
    interval* i = map_->first_after(a.begin, operand);
    for (std::uint64_t done = a.begin; done < a.end; done = i->end, i = i->next) {
      const std::uint64_t gap_end = std::min(i->begin, a.end);
      i = gap_end > done ? map_->insert_before(i, done, gap_end, operand) : map_->clip(i, a.begin, a.end);
      if (i->writer == self) continue;
      i->readers |= 1u << at.lane;
      i->reads[at.lane] = at.sequence;
    }
  }
}

void hazard_tracker::poison(std::span<const memory_access> written, position by, std::uint64_t number) {
  assert(number != 0);
  const operation writer = pack(by);
  for (const memory_access& a : written) {
    if (a.mode == access_mode::read || a.begin >= a.end) continue;
    for (interval* i = map_->first_after(a.begin, 0); i->begin < a.end; i = i->next) {
      if (i->writer != writer) continue;
      i = map_->clip(i, a.begin, a.end);
      i->poison = number;
    }
  }
}

void hazard_tracker::forget_poison_up_to(std::uint64_t number) noexcept { forgotten_ = std::max(forgotten_, number); }

std::size_t hazard_tracker::intervals() const noexcept { return map_->size(); }

}  // namespace troupe
