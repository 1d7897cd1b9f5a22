// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <troupe/device/device.hpp>

namespace troupe::faults {

/// Kills and stops the worker processes of a device from outside, as a system may do. Thread-safe.
///
/// Each function returns how many processes it has signaled. It skips workers that have ended or never existed, workers
/// that are threads, and processes that are not this device's.
class injector {
 public:
  explicit injector(device d) noexcept : device_(std::move(d)) {}

  /// Sends a signal to the worker that serves.
  int kill_worker(int signal = SIGKILL) const { return hit(who::serves, 0, signal); }
  /// Stops the worker that serves: it does not run until `continue_worker`.
  int stop_worker() const { return kill_worker(SIGSTOP); }
  int continue_worker() const { return kill_worker(SIGCONT); }

  /// Sends a signal to a standby. Standbys are numbered in the order of their launch.
  int kill_standby(std::size_t number = 0, int signal = SIGKILL) const { return hit(who::stands_by, number, signal); }
  int stop_standby(std::size_t number = 0) const { return kill_standby(number, SIGSTOP); }
  int continue_standby(std::size_t number = 0) const { return kill_standby(number, SIGCONT); }

  /// Sends a signal to the worker and all standbys.
  int kill_all(int signal = SIGKILL) const { return hit(who::all, 0, signal); }

 private:
  enum class who : std::uint8_t { serves, stands_by, all };
  int hit(who whom, std::size_t number, int signal) const;

  device device_;
};

}  // namespace troupe::faults
