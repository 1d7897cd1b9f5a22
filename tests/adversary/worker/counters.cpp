// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks on the counters and logs of lanes, which say which requests are done.
#include <troupe/base/linux/futex.hpp>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;

// Applies a change, once, to the word of each lane that has completed requests.
bool change_words(hostile_worker& w, std::uint64_t (*changed)(std::uint64_t)) {
  for (protocol::lane_counters& lane : w.view.page().lanes)
    if (std::uint64_t word = lane.done.word().load(); checked_count::count_of(word) != 0)
      lane.done.word().compare_exchange_strong(word, changed(word));
  w.wake_application();
  return false;
}
std::uint64_t one_less(std::uint64_t word) { return checked_count::word_of(checked_count::count_of(word) - 1); }
std::uint64_t one_more(std::uint64_t word) { return checked_count::word_of(checked_count::count_of(word) + 1); }

bool run_counters_back(hostile_worker& w) { return change_words(w, one_less); }
bool zero_counters(hostile_worker& w) {
  return change_words(w, [](std::uint64_t) { return std::uint64_t{0}; });
}
bool fill_counters(hostile_worker& w) {
  return change_words(w, [](std::uint64_t) { return std::uint64_t{UINT64_MAX}; });
}
bool flip_high_bits(hostile_worker& w) {
  return change_words(w, [](std::uint64_t word) { return word ^ std::uint64_t{1} << 40; });
}
bool count_one_more(hostile_worker& w) { return change_words(w, one_more); }

bool count_all_at_once(hostile_worker& w) {
  while (w.must_attack()) {
    for (protocol::lane_counters& lane : w.view.page().lanes) lane.done.store(lane.done.load() + w.capacity() - 1);
    w.wake_application();
    pause(std::chrono::microseconds(100));
  }
  return false;
}

// Copies the entries of one lane to the log of another, whose counter follows.
bool copy_logs_between_lanes(hostile_worker& w) {
  while (w.must_attack()) {
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
      const std::uint32_t other = (lane + 1) % max_lanes;
      const std::uint64_t done = w.view.page().lanes[lane].done.load();
      checked_count& its = w.view.page().lanes[other].done;
      w.view.log(other, its.load()).store(w.view.log(lane, done).load());
      its.store(its.load() + 1);
    }
    w.wake_application();
    pause(std::chrono::microseconds(200));
  }
  return false;
}

bool name_wrong_slots(hostile_worker& w) {
  while (w.must_attack())
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane)
      w.view.log(lane, w.view.page().lanes[lane].done.load()).store(w.random() % 2 != 0 ? 0xfffff : w.random());
  return false;
}

// Alternates between right and wrong values, in case the application reads a value twice.
bool flip_while_read(hostile_worker& w) {
  while (w.must_attack()) {
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
      std::atomic<std::uint64_t>& log = w.view.log(lane, w.view.page().lanes[lane].done.load());
      const std::uint64_t right = log.load();
      log.store(right ^ 1);
      log.store(0xfffff);
      log.store(right);
    }
    for (std::uint32_t i = 0; i < w.capacity(); ++i) {
      const std::uint64_t right = w.view.slot(i).load();
      w.view.slot(i).store(UINT64_MAX);
      w.view.slot(i).store(right);
    }
  }
  return false;
}

bool change_lane_purposes(hostile_worker& w) {
  while (w.must_attack()) {
    for (protocol::lane_counters& lane : w.view.page().lanes) {
      lane.purpose.store(static_cast<lane_purpose>(w.random()));
      lane.priority.store(static_cast<std::int32_t>(w.random()));
      lane.together.store(w.random());
    }
    pause(std::chrono::microseconds(100));
  }
  return false;
}

constexpr const char* believed = "a counter that cannot be right ends the worker";
constexpr strategy strategies[] = {
    {"run_counters_back", "counters", believed, moment::serving, run_counters_back, true},
    {"zero_counters", "counters", believed, moment::serving, zero_counters, true},
    {"fill_counters", "counters", believed, moment::serving, fill_counters, true},
    {"flip_high_bits", "counters", believed, moment::serving, flip_high_bits, true},
    {"count_one_more", "counters", "a request is not done before it is", moment::serving, count_one_more, true},
    {"count_all_at_once", "counters", believed, moment::serving, count_all_at_once, false, true},
    {"copy_logs_between_lanes", "counters", believed, moment::serving, copy_logs_between_lanes, false, true},
    {"name_wrong_slots", "counters", believed, moment::serving, name_wrong_slots},
    {"flip_while_read", "counters", "each word is read once", moment::serving, flip_while_read},
    {"change_lane_purposes", "counters", "statistics survive anything", moment::serving, change_lane_purposes},
};

}  // namespace

std::span<const strategy> counter_strategies() { return strategies; }

}  // namespace adversary
