// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <troupe/channel/process.hpp>
#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {

/// The worker that requests go to, and what is known of it. Which one is to serve, the supervisor decides; this is the
/// one that was told so last, until another is.
class serving_worker {
 public:
  using worker_id = device_supervisor::worker_id;

  /// 0: none yet. It may be about to be replaced. Any thread.
  worker_id id() const noexcept { return id_.load(std::memory_order_relaxed); }
  /// Of its process; 0: none yet, or a thread. Any thread.
  int pid() const noexcept { return pid_.load(); }

  /// With the drive lock, but for what is the control loop's: the worker is told to serve.
  void begin(worker_id id) noexcept {
    id_.store(id);
    violated_.store(false);
    over_ = false;
    believed_ = true;
    overrun_.reset();
    exit_ = {};
    asked_ns_ = 0;
  }
  void set_pid(int pid) noexcept { pid_.store(pid); }

  /// It wrote what cannot be: nothing more is read. True the first time. Any thread.
  bool violate() noexcept { return !violated_.exchange(true); }
  bool violated() const noexcept { return violated_.load(std::memory_order_relaxed); }

  /// With the drive lock: it is gone, and its requests are being sorted out. `believed`: what it said about those that
  /// it did not finish. One that goes before it served has said nothing.
  void end(bool believed) noexcept {
    if (!over_) believed_ = believed;
  }
  void sorted_out() noexcept { over_ = true; }
  /// With the drive lock: none has served since.
  bool over() const noexcept { return over_; }
  bool believed() const noexcept { return believed_; }

  // What follows is the control loop's.

  /// The ticket of a request that ran for too long; none: it does not end for that.
  void note_overrun(std::optional<std::uint64_t> ticket) noexcept { overrun_ = ticket; }
  const std::optional<std::uint64_t>& overrun() const noexcept { return overrun_; }
  /// How it ended.
  void note_exit(const exit_status& how) noexcept { exit_ = how; }
  const exit_status& exit() const noexcept { return exit_; }
  /// Returns when it was asked for the sign of life that is still missing; none is: it is asked now.
  std::int64_t asked_at(std::int64_t now) noexcept { return asked_ns_ != 0 ? asked_ns_ : asked_ns_ = now; }
  void note_sign_of_life() noexcept { asked_ns_ = 0; }

 private:
  std::atomic<worker_id> id_{0};
  std::atomic<int> pid_{0};
  std::atomic<bool> violated_{false};
  bool over_ = false, believed_ = true;
  std::optional<std::uint64_t> overrun_;
  exit_status exit_;
  std::int64_t asked_ns_ = 0;
};

}  // namespace troupe
