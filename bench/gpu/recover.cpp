// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How long a service is without its GPU worker: from the launch of a broken kernel to the first right answer, while
// clients send requests all the time. The driver takes time to report a fault; a process without Troupe measures how
// long.
#include <bench/device_under_test.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/measures.hpp>
#include <bench/recovery.hpp>
#include <bench/rounds.hpp>
#include <chrono>
#include <cstdio>
#include <troupe/faults/faults.hpp>

namespace troupe::bench {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> libraries{"blas", "jit", "faults"};

// An illegal address. Each request has another number, so that none is quarantined.
struct wild_pointer {
  std::uint64_t number = 0;
  void operator()(const device& gpu) { gpu.tell(faults::segmentation_fault{.number = ++number}); }
};

// Returns the milliseconds since the last fault was reported to the application, or a negative number if there was
// none.
double milliseconds_since_told(device_watch& events) {
  const auto now = std::chrono::system_clock::now();
  double since = -1;
  while (const auto e = events.poll())
    if (e->fault) since = std::chrono::duration<double, std::milli>(now - e->fault->when).count();
  return since;
}

figures run_standby(const settings& s) {
  constexpr double most_since_told_ms = 10;
  const double floor_once = raw_side::milliseconds_to_fault(s);  // fails early if it cannot be measured
  const device_under_test gpu(s, {.when_full = when_full::wait, .libraries = libraries, .restarts = no_budget});
  const load clients(*gpu, 2);
  await_right_answer(*gpu, 0);
  device_watch events = gpu->watch();
  wild_pointer fault;
  std::vector<double> since_told;
  const pair_of_medians found = interleaved(
      s.rounds(21),
      [&] {
        const double all = recovery(*gpu, 1, fault);
        since_told.push_back(milliseconds_since_told(events));
        return all;
      },
      [&] { return raw_side::milliseconds_to_fault(s); }, [&] { since_told.clear(); });
  const double told = median(since_told), longest = percentile(since_told, 1);
  figures f{.ours = found.ours, .raw = found.raw};
  char text[160];
  std::snprintf(text, sizeof text,
                "from the driver's report to the right answer: %.2f ms, longest %.2f ms; the first floor measured: "
                "%.0f ms",
                told, longest, floor_once);
  f.note = text;
  if (told > most_since_told_ms) f.missed = "from the driver's report to the first right answer <= 10 ms";
  for (const double t : since_told)
    if (t < 0) f.objection = "a recovery without a reported fault";
  if (clients.objectionable()) f.objection = "a client got a wrong answer, or an error that no fault excuses";
  return f;
}

figures run_cold(const settings& s) {
  const device_under_test gpu(
      s, {.when_full = when_full::wait, .libraries = libraries, .standbys = 0, .restarts = no_budget});
  const load clients(*gpu, 2);
  return figures_of(recoveries(*gpu, 0, s.rounds(15), wild_pointer()), clients, 0);
}

figures run_hang(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .libraries = libraries, .restarts = no_budget});
  const load clients(*gpu, 1);
  std::uint64_t number = 0;
  const auto hang = [&](const device& d) {
    d.tell(faults::hang{.number = ++number}, {.run_timeout = milliseconds(100)});
  };
  return figures_of(recoveries(*gpu, 1, s.rounds(21), hang), clients, 0);
}

}  // namespace

const measure gpu_recover_standby{
    .name = "gpu.recover.standby",
    .unit = "ms",
    .ours = "from the launch of a wild pointer under load to the first right answer; the part after the report: <= 10",
    .raw = "from the same launch, in a process without Troupe, until cuStreamQuery reports the fault",
    .goal = {goal::kind::at_most_above_raw, 15},
    .run = run_standby};

const measure gpu_recover_cold{.name = "gpu.recover.cold",
                               .unit = "ms",
                               .ours = "the same without a standby",
                               .raw = "",
                               .goal = {goal::kind::ours_at_most, 1500},
                               .run = run_cold};

const measure gpu_recover_hang{.name = "gpu.recover.hang",
                               .unit = "ms",
                               .ours =
                                   "from the launch of a kernel that never ends, run_timeout 100 ms, to the first "
                                   "right answer",
                               .raw = "",
                               .goal = {goal::kind::ours_at_most, 300},
                               .run = run_hang};

}  // namespace troupe::bench
