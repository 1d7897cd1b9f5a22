// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// There and back with nothing to do on the way, against two bare processes that pass a word to and fro.
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/ping_pong.hpp>
#include <bench/rounds.hpp>
#include <cstdio>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

struct round_trips {
  std::vector<double> all;

  // The median of `count`, in microseconds.
  template <class F>
  double measure(int count, F&& once) {
    std::vector<double> now;
    for (int i = 0; i < count; ++i) {
      const std::int64_t start = now_ns();
      once();
      now.push_back(static_cast<double>(now_ns() - start) / 1000);
    }
    all.insert(all.end(), now.begin(), now.end());
    return median(std::move(now));
  }
};

figures run(const settings& s, wait_policy policy) {
  const bool spinning = policy == wait_policy::latency;
  const device_under_test gpu(s, {.wait = policy});
  ping_pong bare(spinning);
  round_trips ours, raw;
  const int each = spinning ? 1000 : 300;
  const pair_of_medians found = interleaved(
      s.rounds(31), [&] { return ours.measure(each, [&] { gpu->ping().get().value(); }); },
      [&] { return raw.measure(each, [&] { bare.round_trip(); }); });
  char note[100];
  std::snprintf(note, sizeof note, "99th percentile %.1f us, bare %.1f us", percentile(std::move(ours.all), 0.99),
                percentile(std::move(raw.all), 0.99));
  return {.ours = found.ours, .raw = found.raw, .note = note};
}

figures run_blocked(const settings& s) { return run(s, wait_policy::efficient); }

figures run_spinning(const settings& s) {
  if (usable_cores() < 2) throw bad_result(error(reaction::unsupported, "bench", "one core: waiting never spins here"));
  return run(s, wait_policy::latency);
}

}  // namespace

const measure ask_empty_blocked{.name = "ask.empty.blocked",
                                .unit = "us",
                                .ours = "ping().get(), both sides asleep when they wait (wait_policy::efficient)",
                                .raw = "two bare processes, a futex each",
                                .goal = {goal::kind::ratio_at_most, 1.5},
                                .run = run_blocked};

const measure ask_empty_spinning{.name = "ask.empty.spinning",
                                 .unit = "us",
                                 .ours = "ping().get(), both sides awake (wait_policy::latency)",
                                 .raw = "two bare processes that watch a word each",
                                 .goal = {goal::kind::ours_at_most, 2},
                                 .run = run_spinning};

}  // namespace troupe::bench
