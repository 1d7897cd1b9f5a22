// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <troupe/base/containers/list.hpp>
#include <troupe/faults/injector.hpp>
#include <troupe/faults/kinds.hpp>
#include <vector>

namespace troupe::faults {

/// The faults that a storm injects, and how often.
struct storm_options {
  list<kind> kinds = {};   ///< kinds of faults, all equally likely; empty: all kinds
  std::uint64_t seed = 1;  ///< determines the order of kinds, and the times of the faults
  double per_second = 10;  ///< average number of faults, at random times
  /// The storm ends after this number of faults.
  std::uint64_t most = UINT64_MAX;
  /// True: the next fault waits until the device has recovered from the last one. False: faults occur at their times,
  /// whatever the state of the device.
  bool one_at_a_time = true;
  time_span pause = time_span::of_seconds(1);  ///< how long temporary faults last
  /// Limit of the run time of the storm's requests. If it is set, `hang` runs without end.
  time_span run_timeout = time_span::for_ever();
  std::uint64_t exhaust_bytes = 64 << 20;  ///< limit of `exhaust_memory`
};

/// One injected fault. Times are nanoseconds since the storm began.
struct injection {
  faults::kind kind;
  bool hit = false;        ///< a process was signaled, or a request was accepted and had its effect
  std::int64_t at_ns = 0;  ///< when the fault was injected
  /// When the device detected that a worker had ended, and when the next worker began to serve; 0 if that did not
  /// happen.
  std::int64_t seen_ns = 0, serving_ns = 0;
  /// When the device answered again, if the storm waited for that; otherwise 0.
  std::int64_t answers_ns = 0;
  /// Generations of the device before and after the fault: the number rises with each worker that is lost while it
  /// serves.
  std::uint64_t generation_before = 0, generation_after = 0;

  /// Returns true if a worker was lost and the device has answered since.
  bool recovered() const noexcept { return answers_ns != 0 && generation_after > generation_before; }
  /// Returns the time from the fault to the first answer of the next worker.
  std::int64_t recovery_ns() const noexcept { return recovered() ? answers_ns - at_ns : 0; }
};

/// Injects faults into a device, on a thread of its own, until it is stopped. Equal seeds give the same kinds in the
/// same order; the effect of a fault still depends on its exact time.
///
/// The device needs enough `restarts`. It detects a stopped worker only if `heartbeat_timeout` is shorter than `pause`.
/// No two requests that a storm sends are equal, so none is quarantined.
class storm {
 public:
  explicit storm(device d, storm_options o = {});
  /// Calls stop().
  ~storm();
  storm(const storm&) = delete;

  /// Ends the storm after the current fault, and continues the processes that it has stopped.
  void stop();
  /// Blocks until `most` faults have been injected or `stop` is called.
  void wait();
  /// Returns the faults injected until now.
  std::vector<injection> record() const;
  std::uint64_t count() const;
  /// Returns how many of the injected faults have hit.
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
  std::int64_t resume_at_ns_ = INT64_MAX;  // when the stopped processes are to continue
  pending<void> answer_;                   // reply to the last request that was sent
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::vector<injection> record_;
  bool stopping_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace troupe::faults
