// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/schedule/lane_chooser.hpp>
#include <troupe/worker/schedule/operation.hpp>
#include <troupe/worker/schedule/reporter.hpp>

namespace troupe {

/// The lanes of a worker. Each runs its operations first in, first out; different lanes at the same time.
/// A lane has a thread only from the moment something is queued for it: work that can run at once may run on the pump.
///
/// On a platform most lanes are streams: to run an operation is to enqueue it, and it is done when the device has
/// written so. That is asked for now and then only, because each time costs the device something: when a lane has
/// nothing more to enqueue, before it does what may take long, behind what another lane waits for or what has a time
/// limit, and after some operations, the fewer the longer they take.
class lane_set {
 public:
  /// Without `threads`, what is queued waits for a call of `step`.
  lane_set(protocol::view channel, operation* operations, reporter& reports, failure_log& failures, wait_policy policy,
           bool threads = true, platform* gpu = nullptr);
  /// What each lane is for. Before anything is issued.
  void set_up(const lane_chooser& chooser) noexcept;
  /// Makes the streams. After that, and before anything is issued.
  result<void> make_streams(const lane_chooser& chooser);
  lane_set(const lane_set&) = delete;
  /// Waits for what is queued, then ends the threads. Without threads, what is queued never runs.
  ~lane_set();

  /// For the pump: gives `op` the next place in its lane, `op.at`, and writes the lane's log.
  void issue(operation& op, std::uint32_t lane) noexcept;
  /// For the pump: what is being issued waits for these. The device says so right behind them, and not only when it has
  /// done what was enqueued meanwhile, too.
  void will_wait_for(const wait_list& waits) noexcept;
  /// Runs an issued operation, and those `together` with it, on the calling thread: the pump, when the lane was idle
  /// and they wait for nothing.
  void run_here(operation& op) noexcept { run(op); }
  /// Leaves them to the lane's thread.
  void queue(operation& op);
  /// Without threads: runs what is next in this lane, and those `together` with it. False when there is nothing, or it
  /// must wait for another lane.
  bool step(std::uint32_t lane) noexcept;

  std::uint64_t done(std::uint32_t lane) const noexcept {
    return channel_.page().lanes[lane].done.load(std::memory_order_acquire);
  }
  std::uint64_t issued(std::uint32_t lane) const noexcept { return lanes_[lane].issued; }
  bool idle(std::uint32_t lane) const noexcept { return done(lane) == lanes_[lane].issued; }
  /// Its operations run on the device.
  bool is_stream(std::uint32_t lane) const noexcept { return lanes_[lane].stream != nullptr; }
  /// What an operation of this lane waits for is so far that it can be run.
  bool are_met(const wait_list& waits, std::uint32_t lane) const noexcept;
  /// And nothing is left in the lane for its thread.
  bool can_run_at_once(const wait_list& waits, std::uint32_t lane) const noexcept {
    return lanes_[lane].ran.load(std::memory_order_acquire) == lanes_[lane].issued && are_met(waits, lane);
  }
  /// The thread of some lane has so much left to enqueue that nothing new is urgent.
  bool have_plenty() const noexcept;
  /// The device is to say how far it is. For the pump, before it sleeps.
  void mark_all() noexcept;
  /// Called on any lane when an engine says that its context is lost: what it answers then does not matter any more.
  void when_context_lost(std::function<void(const failure&)> f) { context_lost_ = std::move(f); }
  /// Libraries, a bit for each, whose engine has asked to be opened anew.
  std::uint64_t take_broken() noexcept {
    return broken_.load(std::memory_order_relaxed) == 0 ? 0 : broken_.exchange(0, std::memory_order_acquire);
  }
  /// Blocks until every operation issued so far is complete, or the device is lost.
  void drain() noexcept;
  /// Nothing runs any more, and nothing more is answered: the worker ends.
  bool is_lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }

 private:
  static constexpr std::uint64_t never = UINT64_MAX;
  static constexpr std::uint32_t most_unmarked = 32;
  // In lines of the cache by who writes them.
  struct lane {
    alignas(64) std::uint64_t issued = 0;  ///< the pump's
    std::atomic<std::uint64_t> queued{0};  ///< the thread may run up to here

    alignas(64) std::atomic<std::uint64_t> ran{0};       ///< has been run up to here, or enqueued
    std::atomic<bool> running{false};                    ///< something that waits for nothing any more
    std::atomic<std::uint32_t> unmarked{most_unmarked};  ///< how many are run before they are marked

    alignas(64) std::mutex marking;
    std::atomic<std::uint64_t> marked{0};      ///< the device will say that it has done up to here
    std::atomic<std::uint64_t> wanted{never};  ///< somebody sleeps until the device has done that
    std::atomic<std::int64_t> busy_since_ns{0};

    alignas(64) void* stream = nullptr;
    lane_purpose purpose = lane_purpose::none;
    std::atomic<std::uint32_t> wake{0};
    std::atomic<bool> parked{false};
    std::thread thread;
  };
  // The watcher's, of each lane.
  struct pace {
    std::uint64_t done = 0;
    std::int64_t seen_ns = 0;
    std::int64_t unmarked_since_ns = 0;  // 0: there is nothing of the kind
  };
  void run(operation& op) noexcept;
  void run_group(operation& head) noexcept;
  failure_ptr start(operation& op) noexcept;
  failure_ptr execute(const operation& op) noexcept;
  void tell(const operation& op, const failure_ptr& why);
  troupe_engine_call call_of(const operation& op) noexcept;
  void serve(std::uint32_t number) noexcept;
  void look_ahead(std::uint32_t number, std::uint64_t next, std::uint64_t queued) noexcept;
  void give_way() noexcept;
  operation& at(position p) const noexcept;
  protocol::gate wait_for(const wait_list& waits, std::uint32_t on_lane) noexcept;
  void is_about_to_run(const operation& op, protocol::gate gate) noexcept;
  bool goes_with_the_context(const failure& why) const noexcept;
  void wait_until_done(std::uint32_t lane, std::uint64_t sequence) noexcept;
  void wait_for_device(position p) noexcept;
  template <class Reached>
  void sleep_until(Reached&& reached) noexcept;
  void mark(std::uint32_t lane) noexcept;
  void mark(position at_least) noexcept;
  void mark_when_run(position p) noexcept;
  void watch() noexcept;
  bool under_way() const noexcept;
  void learn_pace(std::uint32_t number, pace& p, std::int64_t now) noexcept;
  void mark_what_waits(std::uint32_t number, pace& p, std::int64_t now) noexcept;
  void fault(const error& why, const operation* asking = nullptr) noexcept;
  void wake_steps() noexcept;
  void wake_who_wanted_that() noexcept;
  void complete(position up_to) noexcept;
  failure_ptr failed_input(const operation& op) const;

  protocol::view channel_;
  operation* operations_;
  reporter& reports_;
  failure_log& failures_;
  wait_policy policy_;
  spin_experience steps_, device_steps_;  // of waits for other lanes, and for the device
  const bool threads_;
  platform* const gpu_;
  std::function<void(const failure&)> context_lost_;
  std::atomic<std::uint64_t> broken_{0};
  std::atomic<bool> ending_{false};
  std::atomic<bool> lost_{false};                         // the device does nothing any more: nobody waits for it
  std::atomic<std::uint32_t> step_{0}, step_waiters_{0};  // lanes that wait for other lanes sleep on step_
  std::array<lane, max_lanes> lanes_;
  std::atomic<std::uint32_t> far_enough_{0};  // those that wait for the device sleep on it
  std::thread watcher_;                       // looks how far the device is while somebody may want to know
  std::atomic<std::uint32_t> watch_{0}, watch_asleep_{0};  // where it sleeps
};

}  // namespace troupe
