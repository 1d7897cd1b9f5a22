// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/schedule/lane_chooser.hpp>
#include <troupe/worker/schedule/lane_table.hpp>
#include <troupe/worker/schedule/reporter.hpp>

namespace troupe {

/// The device's progress in the lanes that are streams, for threads that wait for it. Without a platform no lane is a
/// stream, and only `is_lost` and `lose` matter.
///
/// The device writes a lane's counter when it reaches a *mark* in the stream. A mark costs it some time, so one is
/// enqueued only when it is needed: when a lane has nothing more to enqueue, before the lane's thread starts something
/// that may take long, after an operation that another lane or the host waits for or that has a time limit, and after a
/// number of operations, which is smaller if they take longer.
///
/// The device wakes no thread, and reports an error only when asked. So one thread, the watcher, polls the counters
/// while marks are outstanding, and wakes waiting threads. If nothing progresses, another thread asks the device for
/// errors: the driver does not answer while it is busy with the end of another process, and the watcher must not be
/// blocked.
class device_progress {
 public:
  /// `gpu` is null if the lanes run on the host. `when_lost` is called at most once, on any thread.
  device_progress(lane_table& lanes, platform* gpu, reporter& reports, wait_policy policy,
                  std::function<void(const failure&)> when_lost);
  device_progress(const device_progress&) = delete;
  /// Ends the threads. Precondition: nothing is enqueued any more.
  ~device_progress();

  /// Makes the streams and starts the threads. Must be called before anything is issued.
  result<void> make_streams(const lane_chooser& chooser);
  bool has_platform() const noexcept { return gpu_ != nullptr; }
  /// Lets the calling thread use the platform, if the worker has one.
  result<void> enter() { return gpu_ != nullptr ? gpu_->enter() : result<void>(); }
  bool is_stream(std::uint32_t lane) const noexcept { return streams_[lane] != nullptr; }
  /// Returns the stream; null for a lane that runs on the host.
  void* stream(std::uint32_t lane) const noexcept { return streams_[lane]; }

  /// Marks everything that the lane, a stream, has enqueued.
  void mark(std::uint32_t lane) noexcept;
  /// Marks each lane whose thread has nothing left to enqueue. Called by the pump before it sleeps.
  void mark_all() noexcept;
  /// Makes these operations be marked as soon as they are enqueued, so that threads and lanes that wait for them do not
  /// also wait for later operations.
  void mark_awaited(const wait_list& waits) noexcept;
  /// Marks the operations after `before` and up to `last` if a mark is due. Precondition: the lane is a stream and has
  /// enqueued them.
  void mark_if_due(std::uint64_t before, position last) noexcept;
  /// Returns the number of operations of the lane, a stream, after which a mark is due: fewer if they take longer.
  std::uint32_t marked_after(std::uint32_t lane) const noexcept {
    return mark_after_[lane].load(std::memory_order_relaxed);
  }

  /// Makes the stream of `lane` wait for an operation that another stream has enqueued. The host does not wait.
  void make_stream_wait(std::uint32_t lane, position p) noexcept;
  /// Blocks until the device has completed this operation of a stream, or is lost.
  void wait_until_done(position p) noexcept;

  /// Declares the device lost: no operation runs any more, none is answered, and the worker ends. The error blames the
  /// only operation that is not known to be complete or, if all are complete, the one whose call reported the loss.
  void lose(const error& why, const operation* reported_by = nullptr) noexcept;
  /// Makes another thread, which may block, ask the device for errors.
  void ask() noexcept;
  /// Lengthens the silence after which the device is asked for errors, while another source reports them. Each question
  /// is a call of the driver in the operating system, which other processes may keep busy, and calls of this process
  /// wait until it returns.
  void ask_less_often(bool less = true) noexcept;
  /// Returns true if the device has not completed everything that was enqueued in streams.
  bool has_work() const noexcept;
  /// Returns the number of completed operations of all streams. It changes whenever the device makes progress.
  std::uint64_t total_done() const noexcept;
  bool is_lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }
  /// Returns true if the device was lost with an error which implies that it runs no kernel any more.
  bool has_ended_kernels() const noexcept { return ended_kernels_.load(); }

 private:
  static constexpr std::uint64_t never = UINT64_MAX;
  static constexpr std::uint32_t most_unmarked = 64;
  struct alignas(64) stream_marks {
    std::mutex marking;
    std::atomic<std::uint64_t> marked{0};      ///< the device will report operations up to this one as done
    std::atomic<std::uint64_t> wanted{never};  ///< the lowest sequence that a sleeping thread waits for
    std::atomic<std::int64_t> busy_since_ns{0};
  };
  /// What the watcher knows about a lane.
  struct pace {
    std::uint64_t done = 0;
    std::int64_t seen_ns = 0;
    std::int64_t unmarked_since_ns = 0;  ///< 0: everything is marked
  };
  void mark_when_enqueued(position p) noexcept;
  void mark_up_to(position p) noexcept;
  void watch() noexcept;
  void ask_for_errors() noexcept;
  bool is_busy() const noexcept;
  void learn_pace(std::uint32_t lane, pace& p, std::int64_t now) noexcept;
  void mark_overdue(std::uint32_t lane, pace& p, std::int64_t now) noexcept;
  void wake_waiters() noexcept;

  lane_table& lanes_;
  platform* const gpu_;
  reporter& reports_;
  const wait_policy policy_;
  const std::function<void(const failure&)> when_lost_;
  std::atomic<bool> lost_{false}, ended_kernels_{false};
  spin_experience spins_;
  alignas(64) std::array<void*, max_lanes> streams_{};
  alignas(64) std::array<std::atomic<std::uint32_t>, max_lanes> mark_after_;  ///< number of enqueued operations
  std::array<stream_marks, max_lanes> marks_;
  std::atomic<std::uint32_t> far_enough_{0};  ///< threads that wait for the device sleep on this word
  std::atomic<bool> ending_{false};
  std::atomic<std::uint32_t> watch_{0}, watcher_sleeps_{0};  ///< the watcher sleeps on `watch_`
  std::atomic<std::uint32_t> questions_{0};                  ///< for errors; the asking thread sleeps on it
  /// The watcher asks for errors after this time without a completed operation, and again after each such time.
  std::atomic<std::int64_t> silence_ns_;
  std::thread watcher_, asker_;
};

}  // namespace troupe
