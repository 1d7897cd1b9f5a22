// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <troupe/device/device.hpp>

namespace troupe::faults {

/// Does to the worker processes of a device what the outside world may do to them: kills and stops them. Thread safe.
///
/// Each function returns how many processes it hit: a worker that has ended, or that was never there, is not hit, nor
/// is one that is a thread. Never a process that is not the device's.
class injector {
 public:
  explicit injector(device d) noexcept : device_(std::move(d)) {}

  /// The worker that serves.
  int kill_worker(int signal = SIGKILL) const { return hit(who::serves, 0, signal); }
  /// It stands still, and answers nothing, until `continue_worker`.
  int stop_worker() const { return kill_worker(SIGSTOP); }
  int continue_worker() const { return kill_worker(SIGCONT); }

  /// The standby with this number, in the order of their launch.
  int kill_standby(std::size_t number = 0, int signal = SIGKILL) const { return hit(who::stands_by, number, signal); }
  int stop_standby(std::size_t number = 0) const { return kill_standby(number, SIGSTOP); }
  int continue_standby(std::size_t number = 0) const { return kill_standby(number, SIGCONT); }

  /// The worker and all standbys.
  int kill_all(int signal = SIGKILL) const { return hit(who::all, 0, signal); }

 private:
  enum class who : std::uint8_t { serves, stands_by, all };
  int hit(who whom, std::size_t number, int signal) const;

  device device_;
};

}  // namespace troupe::faults
