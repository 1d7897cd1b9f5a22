// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <troupe/base/list.hpp>
#include <troupe/faults/injector.hpp>
#include <troupe/faults/kinds.hpp>
#include <vector>

namespace troupe::faults {

/// Which faults, and how often.
struct storm_options {
  list<kind> kinds = {};            ///< each as likely as the others; empty: all
  std::uint64_t seed = 1;           ///< of the order of kinds, and of the moments
  double per_second = 10;           ///< on average, at random moments
  std::uint64_t most = UINT64_MAX;  ///< faults; then it is over
  /// The next fault waits until the device has recovered from the last. Otherwise they come whenever they come.
  bool one_at_a_time = true;
  time_span pause = time_span::of_seconds(1);  ///< for what only takes a while
  /// Of the requests that it sends. Where there is a limit, `hang` has no end of its own.
  time_span run_timeout = time_span::for_ever();
  std::uint64_t exhaust_bytes = 64 << 20;  ///< what `exhaust_memory` takes at most
};

/// One fault that was injected. Times are nanoseconds since the storm began.
struct injection {
  faults::kind kind;
  bool hit = false;             ///< a process was there to be hit, or a request was accepted and did its work
  std::int64_t at_ns = 0;       ///< when
  std::int64_t answers_ns = 0;  ///< when the device answered again, if it was waited for; otherwise 0
  /// Of the device, before and after: one more for each worker that was lost while it served.
  std::uint64_t generation_before = 0, generation_after = 0;

  /// A worker was lost, and the device has answered since.
  bool recovered() const noexcept { return answers_ns != 0 && generation_after > generation_before; }
  /// From the fault to the first answer of the next worker.
  std::int64_t recovery_ns() const noexcept { return recovered() ? answers_ns - at_ns : 0; }
};

/// Injects faults into a device, from a thread of its own, until it is stopped. The same seed gives the same kinds in
/// the same order. What a run's faults do still depends on the moments at which they come.
///
/// Give the device `restarts` enough. It finds a worker that stands still only where `heartbeat_timeout` is shorter
/// than `pause`. No two requests that it sends are alike, so none is quarantined.
class storm {
 public:
  explicit storm(device d, storm_options o = {});
  /// Stops it.
  ~storm();
  storm(const storm&) = delete;

  /// The last fault, and its end. What was stopped goes on.
  void stop();
  /// Blocks until `most` faults have been injected, or `stop`.
  void wait();
  /// What it has done so far.
  std::vector<injection> record() const;
  std::uint64_t count() const;
  /// How many of them hit.
  std::uint64_t hits() const;

 private:
  void run();
  bool sleep_until(std::int64_t moment_ns);
  void let_go_on();
  injection inject(kind k);
  bool hit_processes(kind k);
  bool kill_promoted();
  bool send(kind k);
  bool refused();
  void await_recovery(injection& what);

  device device_;
  storm_options options_;
  injector injector_;
  std::mt19937_64 random_;
  std::int64_t began_ns_;
  std::int64_t goes_on_ns_ = INT64_MAX;  // what was stopped
  pending<void> answer_;                 // of the last request sent
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::vector<injection> record_;
  bool stopping_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace troupe::faults
