// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <troupe/worker/schedule/hazards/hazards.hpp>
#include <troupe/worker/schedule/hazards/interval_list.hpp>
#include <tuple>

namespace troupe {

class hazard_tracker::interval_map : public interval_list {};

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
  drop_implied(waits);
}

void hazard_tracker::drop_implied(wait_list& waits) const noexcept {
  if (std::popcount(waits.lanes()) < 2) return;
  // "Runs after" has no cycles, so waits cannot all drop each other: the last of each chain stays.
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
    if (p.sequence < theirs.changed) return;  // it runs before some of the waits noted there
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
      clock.reached[lane] = std::max(clock.reached[lane], theirs.reached[lane]);
    }
  });
  if (clock.reached != before) clock.changed = at.sequence;
}

void hazard_tracker::commit(std::span<const memory_access> accesses, position at) {
  assert(at.lane < max_lanes && at.sequence != 0);
  const packed_position self = pack(at);
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
  const packed_position writer = pack(by);
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
