// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <troupe/channel/process/process.hpp>
#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {

/// The serving worker, and what is known about it. The supervisor decides which worker serves; this is the one that was
/// last ordered to serve.
class serving_worker {
 public:
  using worker_id = device_supervisor::worker_id;

  /// Returns the worker's id; 0 if no worker has served. The worker may be about to be replaced. Any thread.
  worker_id id() const noexcept { return id_.load(std::memory_order_relaxed); }
  /// Returns the worker's process ID; 0 if there is no worker yet, or if it is a thread. Any thread.
  int pid() const noexcept { return pid_.load(); }

  /// Notes that this worker is ordered to serve. Called on the control loop, under the drive lock.
  void begin(worker_id id) noexcept {
    id_.store(id);
    violated_.store(false);
    over_ = false;
    believed_ = true;
    overrun_.reset();
    exit_ = {};
    ping_pending_since_ = 0;
  }
  void set_pid(int pid) noexcept { pid_.store(pid); }

  /// Notes that the worker wrote something impossible: nothing more is read from its channel. Returns true at the first
  /// call. Any thread.
  bool violate() noexcept { return !violated_.exchange(true); }
  bool violated() const noexcept { return violated_.load(std::memory_order_relaxed); }

  /// Notes that the worker has ended and its requests are being sorted out. `believed`: its words about unfinished
  /// requests are used. Does nothing if no worker has served since the last such call. The caller holds the drive lock.
  void end(bool believed) noexcept {
    if (!over_) believed_ = believed;
  }
  void sorted_out() noexcept { over_ = true; }
  /// Returns true if the worker's requests were sorted out and no worker has served since. The caller holds the drive
  /// lock.
  bool over() const noexcept { return over_; }
  bool believed() const noexcept { return believed_; }

  // The functions below may be called only on the control loop.

  /// Notes the ticket of the request that ran for too long; nullopt: there was none.
  void note_overrun(std::optional<std::uint64_t> ticket) noexcept { overrun_ = ticket; }
  const std::optional<std::uint64_t>& overrun() const noexcept { return overrun_; }
  /// Notes how the worker ended.
  void note_exit(const exit_status& how) noexcept { exit_ = how; }
  const exit_status& exit() const noexcept { return exit_; }
  /// Returns when the unanswered ping was sent. If there is none, notes and returns `now`.
  std::int64_t ping_pending_since(std::int64_t now) noexcept {
    return ping_pending_since_ != 0 ? ping_pending_since_ : ping_pending_since_ = now;
  }
  void note_heartbeat() noexcept { ping_pending_since_ = 0; }
  /// Notes that this program did not run for `ns`, during which the worker need not have answered.
  void give_time(std::int64_t ns) noexcept {
    if (ping_pending_since_ != 0) ping_pending_since_ += ns;
  }

 private:
  std::atomic<worker_id> id_{0};
  std::atomic<int> pid_{0};
  std::atomic<bool> violated_{false};
  bool over_ = false, believed_ = true;
  std::optional<std::uint64_t> overrun_;
  exit_status exit_;
  std::int64_t ping_pending_since_ = 0;
};

}  // namespace troupe
