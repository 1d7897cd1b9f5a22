// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/waiting/earliest_timer.hpp>

namespace troupe {

class completion;
struct device_board;
struct ledger_entry;

/// Cancels requests that have not started by their deadline, and fails calls of `room()` that are overdue. One timer is
/// set, for the earliest deadline; none if no request has a deadline.
class start_deadlines final : public control_loop::handler {
 public:
  start_deadlines(device_board& board, completion& completion) noexcept;

  /// Watches a deadline. Must be called after the request was published. Any thread.
  void watch(std::int64_t deadline_ns) { timer_.set(deadline_ns); }
  bool has_passed(const ledger_entry& e) const noexcept;
  /// Checks all requests again after a fault: a request that had started may be waiting to start again.
  void look_again() { timer_.set_now(); }

  void on_readable(int) override {}
  void on_time(std::uint64_t) override;

 private:
  std::int64_t cancel_overdue();

  device_board& board_;
  completion& completion_;
  earliest_timer timer_;
};

}  // namespace troupe
