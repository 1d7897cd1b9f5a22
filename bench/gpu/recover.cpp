// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How long a service is interrupted if its GPU worker is lost: from the launch of a faulty kernel to the first correct
// answer, while clients send requests continuously. A part of that is the driver's time to report a fault, which is
// measured in a process without Troupe.
#include <atomic>
#include <bench/device_under_test.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/measures.hpp>
#include <bench/recovery.hpp>
#include <bench/rounds.hpp>
#include <chrono>
#include <cstdio>
#include <thread>
#include <troupe/base/text/cat.hpp>
#include <troupe/faults/faults.hpp>

namespace troupe::bench {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> libraries{"blas", "jit", "faults"};

// Accesses an illegal address. Each request has another number, so that none is quarantined.
struct wild_pointer {
  std::uint64_t number = 0;
  void operator()(const device& gpu) { gpu.tell(faults::segmentation_fault{.number = ++number}); }
};

// Returns the milliseconds since the last fault was reported to the application, or a negative number if none was.
double milliseconds_since_told(device_watch& events) {
  const auto now = std::chrono::system_clock::now();
  double since = -1;
  while (const auto e = events.poll())
    if (e->fault) since = std::chrono::duration<double, std::milli>(now - e->fault->when).count();
  return since;
}

// Asks a device for answers continuously, and records the longest time without an answer.
class pulse {
 public:
  explicit pulse(const device& gpu) : gpu_(gpu), thread_([this] { run(); }) {}
  ~pulse() {
    over_.store(true);
    thread_.join();
  }
  pulse(const pulse&) = delete;
  /// Returns the longest time without an answer since the last call, in milliseconds.
  double longest() { return static_cast<double>(longest_ns_.exchange(0)) / 1e6; }
  bool failed() const noexcept { return failed_.load(); }

 private:
  void run() {
    const auto x = gpu_.alloc<std::uint32_t>(16);
    std::int64_t before = now_ns();
    for (std::uint32_t value = 1; !over_.load(); ++value) {
      gpu_.fill(x, value);
      const auto answer = gpu_.download(x).get();
      if (!answer || *answer != std::vector<std::uint32_t>(16, value)) return failed_.store(true);
      const std::int64_t now = now_ns();
      std::int64_t longest = longest_ns_.load();
      while (longest < now - before && !longest_ns_.compare_exchange_weak(longest, now - before)) {
      }
      before = now;
    }
  }

  device gpu_;
  std::atomic<bool> over_{false}, failed_{false};
  std::atomic<std::int64_t> longest_ns_{0};
  std::thread thread_;
};

// Measures with another program on the same GPU. It stops for as long as the GPU itself does.
template <class Fault, int LongestMs = 0>
figures run_broken(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .libraries = libraries, .restarts = no_budget});
  const device_under_test other(s, {.libraries = {"jit"}, .restarts = 0});
  const load clients(*gpu, 2);
  await_right_answer(*gpu, 0);
  std::uint64_t number = 0;
  std::vector<double> all, stalls;
  const int count = s.rounds(50);
  pulse beside(*other);
  for (int i = -1; i < count; ++i) {
    (void)beside.longest();
    const double ms = recovery(*gpu, 1, [&](const device& d) { d.tell(Fault{.number = ++number}); });
    std::this_thread::sleep_for(milliseconds(2));  // so that the other program has an answer, too
    const double stall = beside.longest();
    if (i < 0) continue;
    all.push_back(ms);
    stalls.push_back(stall);
  }
  figures f = figures_of(all, clients, 0);
  f.raw = median(stalls);
  char text[80];
  std::snprintf(text, sizeof text, "; the other program stood still for %.1f ms, longest %.1f ms", f.raw,
                percentile(stalls, 1));
  f.note += text;
  if (LongestMs > 0 && percentile(all, 1) > LongestMs) f.missed = cat("longest <= ", LongestMs, " ms");
  if (beside.failed()) f.objection = "the other program's worker was given up, or gave a wrong answer";
  return f;
}

}  // namespace

figures run_gpu_recover_standby(const settings& s) {
  constexpr double most_since_told_ms = 10;
  const double floor_once = raw_side::milliseconds_to_fault(s);  // throws now if it cannot be measured
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
  const double reported = median(since_told), longest = percentile(since_told, 1);
  figures f{.ours = found.ours, .raw = found.raw};
  char text[160];
  std::snprintf(text, sizeof text,
                "from the report to the right answer: %.2f ms, longest %.2f ms; the first floor measured: "
                "%.0f ms",
                reported, longest, floor_once);
  f.note = text;
  // The kernel's log may report a fault while the GPU serves no process yet, long before the driver reports it.
  if (reported > most_since_told_ms && found.ours > found.raw)
    f.missed = "from the report to the first right answer <= 10 ms, or before raw has detected the fault";
  for (const double t : since_told)
    if (t < 0) f.objection = "a recovery without a reported fault";
  if (clients.objectionable()) f.objection = "a client got a wrong answer, or an error that no fault excuses";
  return f;
}

figures run_gpu_recover_cold(const settings& s) {
  const device_under_test gpu(
      s, {.when_full = when_full::wait, .libraries = libraries, .standbys = 0, .restarts = no_budget});
  const load clients(*gpu, 2);
  return figures_of(recoveries(*gpu, 0, s.rounds(15), wild_pointer()), clients, 0);
}

figures run_gpu_recover_hang(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .libraries = libraries, .restarts = no_budget});
  const load clients(*gpu, 1);
  std::uint64_t number = 0;
  const auto hang = [&](const device& d) {
    d.tell(faults::hang{.number = ++number}, {.run_timeout = milliseconds(100)});
  };
  return figures_of(recoveries(*gpu, 1, s.rounds(21), hang), clients, 0);
}

figures run_gpu_recover_trap(const settings& s) { return run_broken<faults::illegal_instruction, 50>(s); }
figures run_gpu_recover_assert(const settings& s) { return run_broken<faults::failed_assertion, 50>(s); }
figures run_gpu_recover_misaligned(const settings& s) { return run_broken<faults::floating_point_trap>(s); }
figures run_gpu_recover_shared(const settings& s) { return run_broken<faults::shared_memory_overflow>(s); }
figures run_gpu_recover_address(const settings& s) { return run_broken<faults::segmentation_fault>(s); }

}  // namespace troupe::bench
