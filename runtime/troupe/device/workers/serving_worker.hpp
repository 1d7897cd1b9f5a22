// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <troupe/channel/process.hpp>
#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {

/// The serving worker, and what is known about it. The supervisor decides which worker serves; this is the worker that
/// was last ordered to serve.
class serving_worker {
 public:
  using worker_id = device_supervisor::worker_id;

  /// Returns 0 if there is none yet. The worker may be about to be replaced. Any thread.
  worker_id id() const noexcept { return id_.load(std::memory_order_relaxed); }
  /// Returns the id of its process; 0 if there is none yet, or it is a thread. Any thread.
  int pid() const noexcept { return pid_.load(); }

  /// Notes that this worker is ordered to serve. On the control loop, under the drive lock.
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

  /// Notes that it wrote something impossible: nothing more is read from its channel. Returns true the first time. Any
  /// thread.
  bool violate() noexcept { return !violated_.exchange(true); }
  bool violated() const noexcept { return violated_.load(std::memory_order_relaxed); }

  /// Notes that it is gone and its requests are being sorted out. `believed` is true if its words about unfinished
  /// requests are used. Does nothing if no worker has served since the last call of `sorted_out`. Under the drive lock.
  void end(bool believed) noexcept {
    if (!over_) believed_ = believed;
  }
  void sorted_out() noexcept { over_ = true; }
  /// Returns true if its requests are sorted out and no worker has served since. Under the drive lock.
  bool over() const noexcept { return over_; }
  bool believed() const noexcept { return believed_; }

  // Everything below: only on the control loop.

  /// Notes the ticket of the request that ran for too long; nothing if no request did.
  void note_overrun(std::optional<std::uint64_t> ticket) noexcept { overrun_ = ticket; }
  const std::optional<std::uint64_t>& overrun() const noexcept { return overrun_; }
  /// Notes how it ended.
  void note_exit(const exit_status& how) noexcept { exit_ = how; }
  const exit_status& exit() const noexcept { return exit_; }
  /// Returns when the unanswered ping was sent. If there is none, notes and returns `now`.
  std::int64_t ping_pending_since(std::int64_t now) noexcept {
    return ping_pending_since_ != 0 ? ping_pending_since_ : ping_pending_since_ = now;
  }
  void note_heartbeat() noexcept { ping_pending_since_ = 0; }
  /// Notes that this program did not run for so long: the worker need not have answered meanwhile.
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
