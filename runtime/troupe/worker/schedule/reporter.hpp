// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/channel/ring.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/schedule/failure.hpp>
#include <troupe/worker/schedule/operation.hpp>

namespace troupe {

/// Reports to the application: writes failures to the report ring, and wakes threads that sleep.
class reporter {
 public:
  /// Prepares the reports. If `owns_process` is false, the worker is a thread of the application, which it must not
  /// end.
  reporter(protocol::view channel, ring_writer& reports, bool owns_process = true) noexcept
      : channel_(channel), ring_(reports), owns_process_(owns_process) {}

  /// Continues the numbering of the previous worker, whose last failure had the number `last`. Must be called before
  /// the first report.
  void continue_after(std::uint64_t last) noexcept { last_ = last; }

  /// Publishes a failure and returns its number. Must be called before the operation counts as complete. Blocks while
  /// the ring is full; if the application does not read for a second or two, ends the process.
  std::uint64_t report(const operation& op, const failure& why);

  /// Wakes the threads that wait for answers, after operations became complete.
  void announce() noexcept;
  /// Does so after this request became complete, if a thread waits for it or for any news. Many requests may complete
  /// before the one that a thread waits for: waking the thread for each would cost more than a small request takes.
  void announce(std::uint32_t slot, std::uint64_t ticket) noexcept;
  /// Wakes the reactor, before the pump or a lane sleeps, if there are answers for which no thread was woken.
  void announce_idle() noexcept;

 private:
  void announce_if(bool matters) noexcept;
  void wake_reactor() noexcept;

  protocol::view channel_;
  ring_writer& ring_;
  const bool owns_process_;
  std::mutex lock_;
  std::uint64_t last_ = 0;
  std::uint64_t published_ = 0;  // number of reports of this worker
  std::atomic<bool> unannounced_{false};
};

}  // namespace troupe
