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

/// The faults that a storm injects, and at what rate.
struct storm_options {
  list<kind> kinds = {};   ///< all equally likely; empty: all
  std::uint64_t seed = 1;  ///< determines the order of kinds, and the times
  double per_second = 10;  ///< average number of faults, at random times
  /// Number of faults after which the storm is over.
  std::uint64_t most = UINT64_MAX;
  /// True if the next fault waits until the device has recovered from the last. If false, faults occur at their times
  /// regardless.
  bool one_at_a_time = true;
  time_span pause = time_span::of_seconds(1);  ///< how long temporary faults last
  /// Limit of the requests that the storm sends. If it is limited, `hang` runs without end.
  time_span run_timeout = time_span::for_ever();
  std::uint64_t exhaust_bytes = 64 << 20;  ///< limit of `exhaust_memory`
};

/// One fault that was injected. Times are nanoseconds since the storm began.
struct injection {
  faults::kind kind;
  bool hit = false;        ///< a process was hit, or a request was accepted and did its work
  std::int64_t at_ns = 0;  ///< time of the injection
  /// When the device saw that a worker was gone, and when the next one began to serve; 0 if neither happened.
  std::int64_t seen_ns = 0, serving_ns = 0;
  /// When the device answered again, if the storm waited for that; otherwise 0.
  std::int64_t answers_ns = 0;
  /// Generation of the device before and after: one more for each worker that was lost while it served.
  std::uint64_t generation_before = 0, generation_after = 0;

  /// Returns true if a worker was lost and the device has answered since.
  bool recovered() const noexcept { return answers_ns != 0 && generation_after > generation_before; }
  /// Returns the time from the fault to the first answer of the next worker.
  std::int64_t recovery_ns() const noexcept { return recovered() ? answers_ns - at_ns : 0; }
};

/// Injects faults into a device, from a thread of its own, until it is stopped. The same seed gives the same kinds in
/// the same order; what a run's faults do still depends on when they happen.
///
/// The device needs enough `restarts`. It detects a stopped worker only if `heartbeat_timeout` is shorter than `pause`.
/// No two requests that a storm sends are alike, so none is quarantined.
class storm {
 public:
  explicit storm(device d, storm_options o = {});
  /// Calls stop().
  ~storm();
  storm(const storm&) = delete;

  /// Ends the storm after the current fault, and continues the processes that it stopped.
  void stop();
  /// Blocks until `most` faults have been injected or `stop` is called.
  void wait();
  /// Returns the faults so far.
  std::vector<injection> record() const;
  std::uint64_t count() const;
  /// Returns how many of them hit.
  std::uint64_t hits() const;

 private:
  void run();
  bool sleep_until(std::int64_t moment_ns);
  void resume_stopped();
  injection inject(kind k);
  bool hit_processes(kind k);
  bool kill_promoted();
  bool send(kind k);
  bool refused();
  void await_recovery(injection& what);
  void note_events(injection& what);
  bool has_answered(const injection& what);

  device device_;
  storm_options options_;
  injector injector_;
  device_watch events_;
  std::mt19937_64 random_;
  std::int64_t began_ns_;
  std::int64_t resume_at_ns_ = INT64_MAX;  // when the stopped processes continue
  pending<void> answer_;                   // of the last request sent
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::vector<injection> record_;
  bool stopping_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace troupe::faults
