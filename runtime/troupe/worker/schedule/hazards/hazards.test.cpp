// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <random>
#include <string>
#include <troupe/worker/schedule/hazards/hazards.hpp>
#include <tuple>
#include <vector>

namespace troupe {

static void PrintTo(const position& p, std::ostream* out) { *out << p.lane << ":" << p.sequence; }

namespace {

using enum access_mode;
using positions = std::vector<position>;
using progress = std::array<std::uint64_t, max_lanes>;

positions listed(const wait_list& waits) {
  positions all;
  waits.for_each([&](position p) { all.push_back(p); });
  return all;
}

positions sorted(std::span<const position> some) {
  positions all(some.begin(), some.end());
  std::ranges::sort(all, {}, [](position p) { return std::tuple(p.lane, p.sequence); });
  return all;
}

/// A tracker, its last results, and the progress of the lanes.
struct desk {
  hazard_tracker tracker;
  progress completed{};
  wait_list waits;
  failure_lookup failures;

  positions collect(const std::vector<memory_access>& accesses, std::uint64_t seen = 0) {
    tracker.collect(accesses, completed, seen, waits, failures);
    return listed(waits);
  }
  positions producers() const { return sorted(failures.producers()); }
  void commit(const std::vector<memory_access>& accesses, position at) { tracker.commit(accesses, at); }
  void poison(const std::vector<memory_access>& written, position by, std::uint64_t number) {
    tracker.poison(written, by, number);
  }
  /// Collects requests that touch nothing until every interval has been swept.
  void rest() {
    for (std::size_t left = 20 * tracker.intervals(); left-- > 0;) collect({});
  }
};

TEST(hazards, a_read_waits_for_the_last_write_of_its_range_and_depends_on_its_success) {
  desk d;
  d.commit({{0, 100, write}}, {1, 1});
  d.commit({{50, 100, write}}, {2, 1});
  EXPECT_EQ(d.collect({{0, 50, read}}), (positions{{1, 1}}));
  EXPECT_EQ(d.producers(), (positions{{1, 1}}));
  EXPECT_EQ(d.collect({{49, 51, read_write}}), (positions{{1, 1}, {2, 1}}));
  EXPECT_EQ(d.producers(), (positions{{1, 1}, {2, 1}}));
  EXPECT_EQ(d.collect({{100, 200, read}}), positions{});
}

TEST(hazards, an_overwrite_waits_for_the_readers_since_the_last_write_and_depends_on_none) {
  desk d;
  d.commit({{0, 100, write}}, {1, 1});
  EXPECT_EQ(d.collect({{0, 10, write}}), (positions{{1, 1}}));
  EXPECT_EQ(d.producers(), positions{});
  d.commit({{0, 100, read}}, {2, 1});
  d.commit({{20, 30, read}}, {2, 2});
  d.commit({{20, 30, read}}, {3, 7});
  EXPECT_EQ(d.collect({{0, 100, write}}), (positions{{2, 2}, {3, 7}}));
  EXPECT_EQ(d.collect({{0, 20, write}}), (positions{{2, 1}}));
  EXPECT_EQ(d.producers(), positions{});
  EXPECT_EQ(d.collect({{0, 20, read_write}}), (positions{{2, 1}}));
  EXPECT_EQ(d.producers(), (positions{{1, 1}}));
}

TEST(hazards, reads_do_not_wait_for_reads_even_of_memory_that_was_never_written) {
  desk d;
  d.commit({{0, 100, read}}, {1, 1});
  EXPECT_EQ(d.collect({{0, 200, read}}), positions{});
  EXPECT_EQ(d.collect({{90, 200, write}}), (positions{{1, 1}}));
}

TEST(hazards, requests_do_not_wait_for_complete_operations) {
  desk d;
  d.commit({{0, 100, write}}, {1, 1});
  d.commit({{100, 200, write}}, {1, 2});
  d.completed[1] = 1;
  EXPECT_EQ(d.collect({{0, 200, read}}), (positions{{1, 2}}));
  EXPECT_EQ(d.producers(), (positions{{1, 2}}));
}

TEST(hazards, a_request_may_list_the_same_bytes_several_times) {
  desk d;
  for (const auto& accesses :
       {std::vector<memory_access>{{0, 100, read}, {50, 150, write}}, {{50, 150, write}, {0, 100, read}}}) {
    d.commit(accesses, {1, d.completed[1] + 1});
    EXPECT_EQ(d.collect({{60, 70, write}, {60, 70, read}}), (positions{{1, d.completed[1] + 1}}));
    d.completed[1] += 1;
  }
}

TEST(hazards, empty_ranges_touch_nothing_and_the_last_address_is_tracked) {
  desk d;
  d.commit({{10, 10, write}, {20, 10, write}}, {1, 1});
  EXPECT_EQ(d.tracker.intervals(), 0u);
  d.commit({{UINT64_MAX - 10, UINT64_MAX, read}, {0, 5, write}}, {1, 2});
  d.commit({{0, UINT64_MAX, write}}, {1, 3});
  EXPECT_EQ(d.tracker.intervals(), 1u);
  EXPECT_EQ(d.collect({{UINT64_MAX - 1, UINT64_MAX, read}}), (positions{{1, 3}}));
}

TEST(hazards, only_waits_that_others_imply_are_dropped) {
  hazard_tracker tracker;
  const auto after_dropping = [&](std::uint32_t lane, positions some) {
    wait_list waits;
    for (position p : some) waits.add(p);
    tracker.drop_implied(lane, waits);
    return listed(waits);
  };
  const auto note = [&](position at, positions some) {
    wait_list waits;
    for (position p : some) waits.add(p);
    tracker.note_waited(at, waits);
  };
  EXPECT_EQ(after_dropping(3, {{3, 9}, {0, 1}}), (positions{{0, 1}}));
  note({1, 5}, {{0, 3}});
  EXPECT_EQ(after_dropping(1, {{0, 3}}), positions{}) << "its lane has waited for that already";
  EXPECT_EQ(after_dropping(1, {{0, 4}}), (positions{{0, 4}}));
  EXPECT_EQ(after_dropping(2, {{0, 3}, {1, 5}}), (positions{{1, 5}})) << "1:5 runs after 0:3";
  EXPECT_EQ(after_dropping(2, {{0, 3}, {1, 4}}), (positions{{0, 3}, {1, 4}})) << "1:4 may run before 0:3";
  note({1, 6}, {{0, 9}});
  EXPECT_EQ(after_dropping(2, {{0, 9}, {1, 5}}), (positions{{0, 9}, {1, 5}})) << "1:5 may run before 0:9";
  note({2, 1}, {{1, 6}});
  EXPECT_EQ(after_dropping(2, {{0, 9}, {1, 6}}), positions{}) << "2:1 waited for 1:6, which waited for 0:9";
}

TEST(hazards, poison_is_reported_until_it_is_overwritten_seen_or_forgotten) {
  desk d;
  d.commit({{0, 100, write}}, {1, 1});
  d.poison({{0, 100, write}, {200, 300, read}}, {1, 1}, 5);
  d.completed[1] = 1;
  d.collect({{99, 150, read}});
  EXPECT_EQ(d.failures.poison(), 5u);
  EXPECT_TRUE(d.waits.empty());
  d.collect({{0, 100, write}});
  EXPECT_EQ(d.failures.poison(), 0u) << "an overwrite does not read";
  d.collect({{0, 100, read_write}}, 5);
  EXPECT_EQ(d.failures.poison(), 0u) << "the caller has seen it";
  d.commit({{0, 40, write}}, {1, 2});
  d.collect({{0, 40, read}});
  EXPECT_EQ(d.failures.poison(), 0u) << "overwritten";
  d.collect({{0, 41, read}}, 4);
  EXPECT_EQ(d.failures.poison(), 5u) << "one byte is not overwritten";
  d.tracker.forget_poison_up_to(5);
  d.collect({{0, 100, read}});
  EXPECT_EQ(d.failures.poison(), 0u) << "forgotten";
}

TEST(hazards, a_late_failure_spoils_only_bytes_not_overwritten_since) {
  desk d;
  d.commit({{0, 100, write}}, {1, 1});
  d.commit({{25, 75, write}}, {2, 1});
  d.poison({{0, 100, write}}, {1, 1}, 1);
  d.collect({{25, 75, read}});
  EXPECT_EQ(d.failures.poison(), 0u);
  EXPECT_EQ(d.producers(), (positions{{2, 1}}));
  d.collect({{0, 26, read}});
  EXPECT_EQ(d.failures.poison(), 1u);
}

TEST(hazards, the_first_of_several_unseen_failures_is_reported) {
  desk d;
  for (std::uint64_t n : {3, 1, 2}) {
    d.commit({{n * 10, n * 10 + 10, write}}, {1, n});
    d.poison({{n * 10, n * 10 + 10, write}}, {1, n}, n);
  }
  d.collect({{0, 100, read}});
  EXPECT_EQ(d.failures.poison(), 1u);
  d.collect({{0, 100, read}}, 1);
  EXPECT_EQ(d.failures.poison(), 2u);
}

TEST(hazards, each_of_any_number_of_producers_is_listed_once) {
  desk d;
  positions expected;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    d.commit({{n * 8, n * 8 + 8, write}}, {static_cast<std::uint32_t>(n % 5), n + 1});
    expected.push_back({static_cast<std::uint32_t>(n % 5), n + 1});
  }
  for (std::size_t count : {1, 7, 8, 9, 1000}) {
    d.collect({{0, count * 8, read}, {0, count * 8, read_write}});
    EXPECT_EQ(d.producers(), sorted(std::span(expected).first(count))) << count;
  }
}

TEST(hazards, complete_history_is_forgotten_however_many_ranges_were_used) {
  desk d;
  std::size_t most = 0;
  for (std::uint64_t n = 1; n <= 200'000; ++n) {
    const std::vector<memory_access> accesses{{n * 100, n * 100 + 50, write}, {n * 100 - 40, n * 100 - 20, read}};
    d.collect(accesses);
    d.commit(accesses, {0, n});
    d.completed[0] = n > 50 ? n - 50 : 0;
    most = std::max(most, d.tracker.intervals());
  }
  EXPECT_LE(most, 1200u) << "some 150 are live";
  d.commit({{0, 1'000'000'000, read}}, {0, 200'001});
  d.commit({{0, 1'000'000'000, write}}, {0, 200'002});
  EXPECT_EQ(d.tracker.intervals(), 1u);
}

TEST(hazards, neighboring_ranges_with_the_same_history_are_merged) {
  desk d;
  for (std::uint64_t n = 0; n < 1000; ++n) d.commit({{n, n + 1, read}}, {1, n + 1});
  for (std::uint64_t n = 0; n < 1000; ++n) d.commit({{n, n + 1, read}}, {2, 1});
  EXPECT_EQ(d.tracker.intervals(), 1000u);
  d.completed[1] = 1000;
  d.rest();
  EXPECT_EQ(d.tracker.intervals(), 1u);
  EXPECT_EQ(d.collect({{0, 1, write}}), (positions{{2, 1}}));
}

TEST(hazards, poison_that_is_never_overwritten_stays_until_it_is_forgotten) {
  desk d;
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    d.commit({{n * 10, n * 10 + 10, write}}, {0, n});
    d.poison({{n * 10, n * 10 + 10, write}}, {0, n}, n);
  }
  d.completed[0] = 1000;
  d.rest();
  EXPECT_EQ(d.tracker.intervals(), 1000u);
  d.tracker.forget_poison_up_to(600);
  d.rest();
  EXPECT_EQ(d.tracker.intervals(), 400u);
}

// Random graphs, compared with a model that knows the history of every byte.

struct byte_history {
  position writer;
  std::array<std::uint64_t, max_lanes> reads{};  // since the last write
  std::uint64_t poison = 0;
};

struct operation {
  std::vector<memory_access> accesses;
  position at;
  wait_list waits;
  positions producers;
  progress completed{};  // when the operation was ordered
  bool fails_itself = false;
  bool reads_poison = false;
  bool failed = false;  // at the end
};

struct plan {
  std::uint64_t bytes;    // of memory
  std::uint64_t longest;  // bytes of the longest range
  std::size_t operations;
  std::uint32_t lanes;
  unsigned progress_percent;  // the chance in percent that a lane proceeds in a step
  bool callers_see;           // true if callers know failures, and so ignore older ones
};

class graph {
 public:
  graph(const plan& p, std::uint64_t seed) : plan_(p), random_(seed), memory_(p.bytes), lanes_(p.lanes) {}

  void run() {
    for (std::size_t n = 0; n < plan_.operations && !::testing::Test::HasFatalFailure(); ++n) {
      while (chance(plan_.progress_percent)) proceed();
      add();
    }
    while (complete_ < all_.size()) proceed();
    desk_.tracker.forget_poison_up_to(failures_);
    desk_.rest();
    EXPECT_LE(desk_.tracker.intervals(), 256u) << "everything is complete";
  }

  const std::vector<operation>& operations() const { return all_; }
  const operation& operation_at(position p) const { return all_[lanes_[p.lane][p.sequence - 1]]; }

 private:
  std::uint64_t below(std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_); }
  bool chance(unsigned percent) { return below(100) < percent; }

  void add() {
    operation op;
    for (std::uint64_t n = below(4) + 1; n-- > 0;) {
      const std::uint64_t begin = below(plan_.bytes);
      const std::uint64_t longest = chance(1) ? plan_.bytes : plan_.longest;
      op.accesses.push_back(
          {begin, std::min(begin + below(longest + 1), plan_.bytes), static_cast<access_mode>(below(3))});
    }
    const std::uint64_t seen = plan_.callers_see && failures_ ? below(failures_ + 1) : 0;
    if (plan_.callers_see && failures_ && chance(2)) {
      forgotten_ = std::max(forgotten_, below(failures_ + 1));
      desk_.tracker.forget_poison_up_to(forgotten_);
    }
    desk_.collect(op.accesses, seen);
    expect_what_the_bytes_say(op, std::max(seen, forgotten_));
    op.producers = desk_.producers();
    op.completed = desk_.completed;
    op.fails_itself = chance(5);
    op.reads_poison = desk_.failures.poison() != 0;

    op.at.lane = static_cast<std::uint32_t>(below(plan_.lanes));
    op.at.sequence = lanes_[op.at.lane].size() + 1;
    op.waits = desk_.waits;
    desk_.tracker.drop_implied(op.at.lane, op.waits);
    ASSERT_EQ(op.waits.sequence(op.at.lane), 0u);
    desk_.tracker.note_waited(op.at, op.waits);
    desk_.commit(op.accesses, op.at);
    write_into_bytes(op);
    lanes_[op.at.lane].push_back(all_.size());
    all_.push_back(op);
  }

  void expect_what_the_bytes_say(const operation& op, std::uint64_t known) {
    wait_list waits;
    positions producers;
    std::uint64_t poison = 0;
    const auto open = [&](position p) { return p.sequence > desk_.completed[p.lane]; };
    for (const memory_access& a : op.accesses) {
      for (std::uint64_t at = a.begin; at < a.end; ++at) {
        const byte_history& b = memory_[at];
        bool read_since = false;
        for (std::uint32_t lane = 0; lane < plan_.lanes; ++lane) {
          read_since |= b.reads[lane] != 0;
          if (a.mode != read && open({lane, b.reads[lane]})) waits.add({lane, b.reads[lane]});
        }
        if ((a.mode == read || !read_since) && open(b.writer)) waits.add(b.writer);
        if (a.mode == write) continue;
        if (open(b.writer) && std::ranges::count(producers, b.writer) == 0) producers.push_back(b.writer);
        if (b.poison > known && (poison == 0 || b.poison < poison)) poison = b.poison;
      }
    }
    ASSERT_EQ(listed(desk_.waits), listed(waits)) << "operation " << all_.size();
    ASSERT_EQ(desk_.producers(), sorted(producers)) << "operation " << all_.size();
    ASSERT_EQ(desk_.failures.poison(), poison) << "operation " << all_.size();
  }

  void write_into_bytes(const operation& op) {
    for (const memory_access& a : op.accesses) {
      for (std::uint64_t at = a.begin; at < a.end; ++at) {
        if (a.mode != read) {
          memory_[at] = {.writer = op.at, .reads = {}, .poison = 0};
        } else if (memory_[at].writer != op.at) {
          memory_[at].reads[op.at.lane] = op.at.sequence;
        }
      }
    }
  }

  /// Lets a random lane complete an operation, if any can.
  void proceed() {
    const auto lane = static_cast<std::uint32_t>(below(plan_.lanes));
    if (desk_.completed[lane] == lanes_[lane].size()) return;
    operation& op = all_[lanes_[lane][desk_.completed[lane]]];
    bool ready = true;
    op.waits.for_each([&](position p) { ready &= desk_.completed[p.lane] >= p.sequence; });
    if (!ready) return;
    op.failed = op.fails_itself || op.reads_poison;
    for (position p : op.producers) op.failed |= operation_at(p).failed;
    if (op.failed) {
      desk_.poison(op.accesses, op.at, ++failures_);
      for (const memory_access& a : op.accesses) {
        for (std::uint64_t at = a.begin; a.mode != read && at < a.end; ++at) {
          if (memory_[at].writer == op.at) memory_[at].poison = failures_;
        }
      }
    }
    ++desk_.completed[lane];
    ++complete_;
  }

  plan plan_;
  std::mt19937_64 random_;
  desk desk_;
  std::vector<byte_history> memory_;
  std::vector<std::vector<std::size_t>> lanes_;
  std::vector<operation> all_;
  std::size_t complete_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t forgotten_ = 0;
};

bool conflict(const std::vector<memory_access>& some, const std::vector<memory_access>& others) {
  return std::ranges::any_of(some, [&](const memory_access& a) {
    return std::ranges::any_of(others, [&](const memory_access& b) {
      return (a.mode != read || b.mode != read) && std::max(a.begin, b.begin) < std::min(a.end, b.end);
    });
  });
}

/// Expects that the order of each lane and the remaining waits order every two operations that conflict.
void expect_conflicts_in_order(const graph& g) {
  constexpr std::size_t most = 128;
  std::vector<std::bitset<most>> before;
  std::vector<std::array<std::size_t, most>> index(max_lanes);  // by lane and sequence
  for (std::size_t n = 0; n < g.operations().size(); ++n) {
    const operation& op = g.operations()[n];
    std::bitset<most> earlier;
    const auto runs_after = [&](position p) {
      if (p.sequence == 0) return;
      earlier |= before[index[p.lane][p.sequence]];
      earlier.set(index[p.lane][p.sequence]);
    };
    runs_after({op.at.lane, op.at.sequence - 1});
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) runs_after({lane, op.completed[lane]});
    op.waits.for_each([&](position p) {
      runs_after(p);
      ASSERT_TRUE(conflict(op.accesses, g.operation_at(p).accesses))
          << n << " waits in vain for " << p.lane << ":" << p.sequence;
      ASSERT_GT(p.sequence, op.completed[p.lane]) << n << " waits for what is complete";
    });
    index[op.at.lane][op.at.sequence] = n;
    before.push_back(earlier);
    for (std::size_t m = 0; m < n; ++m) {
      ASSERT_TRUE(earlier[m] || !conflict(op.accesses, g.operations()[m].accesses)) << n << " may overtake " << m;
    }
  }
}

/// Expects the failures of a run of one operation after the other, in whatever order the operations really ran.
void expect_failures_as_if_serial(const graph& g, std::uint64_t bytes) {
  std::vector<bool> bad(bytes);
  for (std::size_t n = 0; n < g.operations().size(); ++n) {
    const operation& op = g.operations()[n];
    bool fails = op.fails_itself;
    for (const memory_access& a : op.accesses) {
      for (std::uint64_t at = a.begin; a.mode != write && at < a.end; ++at) fails = fails || bad[at];
    }
    for (const memory_access& a : op.accesses) {
      for (std::uint64_t at = a.begin; a.mode != read && at < a.end; ++at) bad[at] = fails;
    }
    ASSERT_EQ(op.failed, fails) << "operation " << n;
  }
}

/// Runs `body(seed)` for many seeds, or for the one in TROUPE_SEED.
template <class F>
void for_seeds(std::uint64_t count, F body) {
  const char* given = std::getenv("TROUPE_SEED");
  const std::uint64_t first = given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  if (given) count = 1;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("TROUPE_SEED=" + std::to_string(seed));
    body(seed);
    if (::testing::Test::HasFailure()) return;
  }
  std::printf("seeds from %llu\n", static_cast<unsigned long long>(first));
}

TEST(hazards, random_graphs_are_ordered_and_fail_as_if_run_one_at_a_time) {
  for_seeds(4000, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const plan p{.bytes = 16 + random() % 240,
                 .longest = 1 + random() % 40,
                 .operations = 100,
                 .lanes = 1 + static_cast<std::uint32_t>(random() % max_lanes),
                 .progress_percent = static_cast<unsigned>(random() % 95),
                 .callers_see = random() % 2 == 0};
    graph g(p, seed);
    g.run();
    if (::testing::Test::HasFailure()) return;
    expect_conflicts_in_order(g);
    if (!p.callers_see) expect_failures_as_if_serial(g, p.bytes);
  });
}

TEST(hazards, random_graphs_over_thousands_of_ranges_match_a_model_of_every_byte) {
  for_seeds(24, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    graph g({.bytes = 20'000,
             .longest = 1 + random() % 30,
             .operations = 3000,
             .lanes = 1 + static_cast<std::uint32_t>(random() % max_lanes),
             .progress_percent = static_cast<unsigned>(random() % 70),
             .callers_see = random() % 4 != 0},
            seed);
    g.run();
  });
}

}  // namespace
}  // namespace troupe
