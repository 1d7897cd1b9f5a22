// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/schedule/device_progress.hpp>
#include <troupe/worker/schedule/lane_chooser.hpp>
#include <troupe/worker/schedule/lane_table.hpp>
#include <troupe/worker/schedule/operation.hpp>
#include <troupe/worker/schedule/reporter.hpp>

namespace troupe {

/// The lanes of a worker. Each lane runs its operations in order; different lanes run at the same time. A lane gets a
/// thread when the first operation is queued for it, because the pump itself runs work that can run at once.
///
/// With a platform most lanes are streams: running an operation means enqueueing it, and it is complete when the device
/// has reported it so (device_progress).
class lane_set {
 public:
  /// Prepares the lanes. If `threads` is false, queued operations run only when `step` is called.
  lane_set(protocol::view channel, operation* operations, reporter& reports, failure_log& failures, wait_policy policy,
           bool threads = true, platform* gpu = nullptr);
  /// Sets the purpose of each lane. Must be called before anything is issued.
  void set_up(const lane_chooser& chooser) noexcept;
  lane_set(const lane_set&) = delete;
  /// Waits until everything queued is complete, then ends the threads. Without threads, queued operations never run.
  ~lane_set();

  /// Gives `op` the next position in the lane, `op.at`, and writes the lane's log. Called by the pump.
  void issue(operation& op, std::uint32_t lane) noexcept;
  /// Runs an issued operation, and those that share its call, on the calling thread, which is the pump's. Precondition:
  /// the lane is idle and the operations have nothing to wait for.
  void run_here(operation& op) noexcept { run(op); }
  /// Leaves an operation, and those that share its call, to the lane's thread. Called by the pump.
  void queue(operation& op);
  /// Without threads: runs the lane's next queued operation, and those that share its call. Returns false if none is
  /// queued, or if it must wait for another lane.
  bool step(std::uint32_t lane) noexcept;

  /// Returns the number of complete operations of the lane. Counts that only threads of this process change are read
  /// from its own memory: a broken kernel may overwrite those that the application reads, and a wrong count must not
  /// let an operation run before what it needs.
  std::uint64_t done(std::uint32_t lane) const noexcept {
    return device_.is_stream(lane) ? lanes_.done(lane) : lanes_[lane].ran.load(std::memory_order_acquire);
  }
  std::uint64_t issued(std::uint32_t lane) const noexcept { return lanes_[lane].issued; }
  operation& at(position p) const noexcept { return lanes_.at(p); }
  /// Returns the number of operations that the lane's thread has yet to run, including those of its present call.
  std::uint64_t yet_to_run(std::uint32_t lane) const noexcept {
    const std::uint64_t ran = lanes_[lane].ran.load(std::memory_order_acquire),
                        queued = lanes_[lane].queued.load(std::memory_order_relaxed);
    return queued > ran ? queued - ran : 0;
  }
  std::uint64_t backlog(std::uint32_t lane) const noexcept { return lanes_[lane].issued - lanes_.done(lane); }
  bool idle(std::uint32_t lane) const noexcept { return backlog(lane) == 0; }
  /// Returns true if nothing has been issued to the lane after this operation.
  bool is_last(position p) const noexcept { return lanes_[p.lane].issued == p.sequence; }
  /// Returns true if an operation of this lane with these waits can run; on a stream, if what it waits for is enqueued.
  bool are_met(const wait_list& waits, std::uint32_t lane) const noexcept;
  /// Returns true if are_met() and the lane's thread has nothing left to run.
  bool can_run_at_once(const wait_list& waits, std::uint32_t lane) const noexcept {
    return lanes_[lane].ran.load(std::memory_order_acquire) == lanes_[lane].issued && are_met(waits, lane);
  }
  /// Returns true if a stream's thread has so much left to enqueue that nothing new is urgent.
  bool has_backlog() const noexcept;
  /// Sets the function that is called, on any thread, when an engine reports that its context is lost. Later results of
  /// that engine do not matter.
  void when_context_lost(std::function<void(const failure&)> f) { context_lost_ = std::move(f); }
  /// Returns the libraries, one bit each, whose engines have asked to be reopened, and clears them.
  std::uint64_t take_broken() noexcept {
    return broken_.load(std::memory_order_relaxed) == 0 ? 0 : broken_.exchange(0, std::memory_order_acquire);
  }
  /// Blocks until every operation issued so far is complete, or the device is lost.
  void drain() noexcept;
  device_progress& device() noexcept { return device_; }
  const device_progress& device() const noexcept { return device_; }

 private:
  void run(operation& op) noexcept;
  void run_group(operation& head) noexcept;
  failure_ptr start(operation& op) noexcept;
  /// Runs an operation. `alone`: if the device is lost, only this operation can be the cause.
  failure_ptr execute(const operation& op, bool alone = true) noexcept;
  void report_failure(const operation& op, const failure_ptr& why);
  troupe_engine_call call_of(const operation& op) noexcept;
  void serve(std::uint32_t number) noexcept;
  void prefetch(std::uint32_t number, std::uint64_t next, std::uint64_t queued) noexcept;
  void yield_to_others() noexcept;
  protocol::gate wait_for(const wait_list& waits, std::uint32_t on_lane) noexcept;
  void start_time_limit(const operation& op, protocol::gate gate) noexcept;
  bool is_lost_with_context(const failure& why) const noexcept;
  void wait_until_done(position p) noexcept;
  template <class Reached>
  void sleep_until(Reached&& reached) noexcept;
  void wake_steps() noexcept;
  /// Counts the operations of a lane up to this one as complete. Unless `is_news_for_all`, wakes only the threads that
  /// wait for it.
  void complete(const operation& last, bool is_news_for_all) noexcept;
  failure_ptr failed_input(const operation& op) const;

  lane_table lanes_;
  reporter& reports_;
  failure_log& failures_;
  wait_policy policy_;
  spin_experience steps_;  // for waits for other lanes
  const bool threads_;
  std::function<void(const failure&)> context_lost_;
  std::atomic<std::uint64_t> broken_{0};
  std::atomic<bool> ending_{false};
  std::atomic<std::uint32_t> step_{0}, step_waiters_{0};  // lanes that wait for other lanes sleep on step_
  device_progress device_;
};

}  // namespace troupe
