// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A round trip that does nothing, compared with two bare processes that pass a word back and forth.
#include <bench/device_under_test.hpp>
#include <bench/host/ping_pong.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/placement.hpp>
#include <cstdio>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

struct round_trips {
  std::vector<double> all;

  // Returns the median of `count` round trips, in microseconds.
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

struct found {
  pair_of_medians medians;
  double ours_99, raw_99;
};

found measure_at(placement::where w, const settings& s, const device_under_test& gpu, ping_pong& bare, int each) {
  const placement placed(w, {gpu->statistics().worker_pid.value(), bare.peer_pid()});
  round_trips ours, raw;
  const pair_of_medians medians = interleaved(
      s.rounds(31), [&] { return ours.measure(each, [&] { gpu->ping().get().value(); }); },
      [&] { return raw.measure(each, [&] { bare.round_trip(); }); },
      [&] {
        ours.all.clear();
        raw.all.clear();
      });
  return {medians, percentile(std::move(ours.all), 0.99), percentile(std::move(raw.all), 0.99)};
}

std::string text(const char* where, const found& f) {
  char out[120];
  std::snprintf(out, sizeof out, "%s: %.2f us, bare %.2f (99th percentiles %.1f and %.1f)", where, f.medians.ours,
                f.medians.raw, f.ours_99, f.raw_99);
  return out;
}

}  // namespace

// Measures with both processes on one core, where every wake is a context switch, and with each on a core of its own,
// which may have to be woken, too. Returns the worse ratio.
figures run_ask_empty_blocked(const settings& s) {
  const device_under_test gpu(s, {.wait = wait_policy::efficient});
  ping_pong bare(false);
  const found one = measure_at(placement::where::one_core, s, gpu, bare, 300);
  figures f{.ours = one.medians.ours, .raw = one.medians.raw, .note = text("on one core", one)};
  if (usable_cores() < 2) return f;
  const found two = measure_at(placement::where::two_cores, s, gpu, bare, 300);
  f.note += "; " + text("on two", two);
  if (two.medians.ours / two.medians.raw > f.ratio()) f.ours = two.medians.ours, f.raw = two.medians.raw;
  return f;
}

figures run_ask_empty_spinning(const settings& s) {
  if (usable_cores() < 2) throw bad_result(error(reaction::unsupported, "bench", "one core: waiting never spins here"));
  const device_under_test gpu(s, {.wait = wait_policy::latency});
  ping_pong bare(true);
  const found two = measure_at(placement::where::two_cores, s, gpu, bare, 1000);
  return {.ours = two.medians.ours, .raw = two.medians.raw, .note = text("on two cores", two)};
}

}  // namespace troupe::bench
