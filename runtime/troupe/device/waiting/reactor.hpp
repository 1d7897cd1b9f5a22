// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <troupe/async/deferred_continuations.hpp>
#include <troupe/async/pending_core.hpp>
#include <troupe/base/process_home.hpp>
#include <troupe/base/result.hpp>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/waiting/continuation_queue.hpp>

namespace troupe {

class completion;
class download_tracker;

/// Waits for answers. Blocked threads wait here and drive the device meanwhile. The device's reactor thread waits for
/// answers that no blocked thread waits for, and posts the continuations of all answers.
class reactor final : public waiter, public process_home {
 public:
  /// Prepares the reactor. If `own_thread` is false, other threads must drive the device, and each posts the
  /// continuations of the answers that it completes.
  reactor(shared_channel& channel, completion& completion, const download_tracker& downloads, wait_policy how,
          int cores, bool gpu, bool own_thread) noexcept;

  /// Must exist, from before any lock is taken, while a thread completes answers. Defers their continuations; the
  /// destructor hands them to the reactor.
  class answering {
   public:
    [[nodiscard]] explicit answering(reactor& to) noexcept : reactor_(to), kept_(std::in_place) {}
    ~answering();
    answering(const answering&) = delete;

   private:
    reactor& reactor_;
    std::optional<deferred_continuations> kept_;
  };

  void wait(pending_core& core, std::int64_t deadline_ns) noexcept override;
  void interest_added(pending_core& core) noexcept override;
  void interest_met(pending_core& core) noexcept override;
  void answered(pending_core& core) noexcept override;

  /// Starts the thread, which keeps `device` alive until it ends, or lets one go on that has not ended yet.
  result<void> start(std::shared_ptr<const void> device);
  /// Ends the thread once it has posted all continuations.
  void end() noexcept;
  /// Waits for the thread to end, unless it is the calling thread. Then, if `gives_up` (the device is being destroyed),
  /// detaches it.
  void join(bool gives_up = false) noexcept;
  void wake() noexcept;
  /// Wakes the reactor and all blocked threads.
  void wake_all() noexcept {
    channel_.wake_waiters();
    wake();
  }

 private:
  void hand_over(job* first) noexcept;
  void post_continuations() noexcept;
  bool is_this_thread() const noexcept { return running_ == this; }
  bool is_needed() const noexcept;
  bool ends() const noexcept { return ends_.load(std::memory_order_seq_cst); }
  void run() noexcept;
  void attend() noexcept;
  void sleep_until_idle() noexcept;

  shared_channel& channel_;
  completion& completion_;
  const download_tracker& downloads_;
  const bool own_thread_;
  spin_experience spin_for_answers_, spin_by_itself_;
  std::atomic<std::uint32_t> asleep_{0};   // not 0 while it sleeps on idle_epoch or is about to
  std::atomic<std::int64_t> interest_{0};  // wanted answers that no blocked thread waits for
  std::atomic<bool> ends_{false};
  std::thread thread_;
  continuation_queue continuations_;
  static thread_local const reactor* running_;  // the reactor whose thread this is
};

}  // namespace troupe
