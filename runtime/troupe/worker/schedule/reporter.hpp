// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/channel/ring.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/schedule/failure.hpp>
#include <troupe/worker/schedule/operation.hpp>

namespace troupe {

/// The worker's voice: failures go into the report ring, and sleepers in the application are woken.
class reporter {
 public:
  reporter(protocol::view channel, ring_writer& reports) noexcept : channel_(channel), ring_(reports) {}

  /// Another worker has told of failures up to this number. Before the first report.
  void continue_after(std::uint64_t last) noexcept { last_ = last; }

  /// Publishes a failure; returns its number. Before the operation counts as complete. Waits while the ring is full.
  std::uint64_t report(const operation& op, const failure& why);

  /// After operations became complete: wakes the threads that wait for answers.
  void announce() noexcept;
  /// Before the pump or a lane sleeps: answers that nobody was woken for are the reactor's now.
  void announce_idle() noexcept;

 private:
  void wake_reactor() noexcept;

  protocol::view channel_;
  ring_writer& ring_;
  std::mutex lock_;
  std::uint64_t last_ = 0;
  std::atomic<bool> unannounced_{false};
};

}  // namespace troupe
