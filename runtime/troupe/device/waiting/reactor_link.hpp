// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <troupe/async/answers/deferred_continuations.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/waiting/continuation_queue.hpp>

namespace troupe {

/// Passes continuations to a device's reactor, and wakes it. Parts that complete answers need only this state, not the
/// reactor itself. Thread-safe.
class reactor_link {
 public:
  explicit reactor_link(const shared_channel& channel) noexcept : channel_(channel) {}
  reactor_link(const reactor_link&) = delete;

  /// Passes a list of continuations to the reactor. Posts them on this thread if the reactor is not running.
  void hand_over(job* first) noexcept;
  /// Wakes the reactor if it sleeps or is about to.
  void wake() noexcept {
    if (asleep_.load(std::memory_order_seq_cst) != 0) channel_.wake_reactor();
  }
  /// Wakes the reactor and all blocked threads.
  void wake_all() noexcept {
    channel_.wake_waiters();
    wake();
  }

  // The following are for the reactor.
  continuation_queue& continuations() noexcept { return continuations_; }
  /// Makes the calling thread the one that posts the continuations of this device.
  void use_this_thread() noexcept { running_ = this; }
  bool is_this_thread() const noexcept { return running_ == this; }
  /// Note that the reactor is about to sleep on idle_epoch, and that it no longer sleeps.
  void begin_sleep() noexcept { asleep_.fetch_add(1, std::memory_order_seq_cst); }
  void end_sleep() noexcept { asleep_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  const shared_channel& channel_;
  continuation_queue continuations_;
  std::atomic<std::uint32_t> asleep_{0};
  static thread_local constinit const reactor_link* running_;  // the link of the reactor whose thread this is
};

/// Keeps the continuations of answers that this thread completes; the destructor passes them to the reactor. A thread
/// that completes answers must make one before it takes any lock. Functions that complete several pendings take it as a
/// parameter, so that no caller can forget it.
class answering {
 public:
  [[nodiscard]] explicit answering(reactor_link& to) noexcept : to_reactor_(to), kept_(std::in_place) {}
  ~answering();
  answering(const answering&) = delete;

 private:
  reactor_link& to_reactor_;
  std::optional<deferred_continuations> kept_;
};

}  // namespace troupe
