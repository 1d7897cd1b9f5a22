// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/waiting/earliest_timer.hpp>

namespace troupe {

class cancellations;
class completion;
class ledger;
struct ledger_entry;
class mailbox_room;
class reactor;
class shared_channel;

/// Cancels requests that have not started by their deadline, and fails calls of `room()` that are overdue. One timer is
/// set, for the earliest deadline; none while no request has a deadline.
class start_deadlines final : public control_loop::handler {
 public:
  start_deadlines(const device_loop& loop, shared_channel& channel, ledger& requests, cancellations& cancelled,
                  completion& completion, mailbox_room& room, reactor& reactor) noexcept;

  /// Must be called after the request was published. Any thread.
  void watch(std::int64_t deadline_ns) { timer_.set(deadline_ns); }
  bool has_passed(const ledger_entry& e) const noexcept;
  /// Checks all requests again after a fault: a request that had started may be waiting to start again.
  void look_again() { timer_.set(loop_.now()); }

  void on_readable(int) override {}
  void on_time(std::uint64_t) override;

 private:
  std::int64_t cancel_overdue();

  const device_loop& loop_;
  shared_channel& channel_;
  ledger& requests_;
  cancellations& cancelled_;
  completion& completion_;
  mailbox_room& room_;
  reactor& reactor_;
  earliest_timer timer_;
};

}  // namespace troupe
