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

/// Cancels what has not started by its deadline: requests, and calls of `room()`. There is one timer for the earliest
/// deadline, and none while no request has one.
class start_deadlines final : public control_loop::handler {
 public:
  /// The error of a request that was cancelled, or not even sent, for its deadline.
  static constexpr const char* passed_text =
      "its time-out passed while it waited to start (call_options::timeout or scope_options::timeout)";

  start_deadlines(const device_loop& loop, shared_channel& channel, ledger& requests, cancellations& cancelled,
                  completion& answers, mailbox_room& room, reactor& waiting) noexcept;

  /// Any thread, after the request was published.
  void watch(std::int64_t deadline_ns) { timer_.set(deadline_ns); }
  bool has_passed(const ledger_entry& e) const noexcept;
  /// After a fault: a request that had started may wait to start again.
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
  reactor& waiting_;
  earliest_timer timer_;
};

}  // namespace troupe
