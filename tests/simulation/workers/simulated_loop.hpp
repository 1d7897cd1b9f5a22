// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/device/waiting/control_loop.hpp>
#include <vector>

namespace troupe::simulation {

/// A control loop and a clock that advance only under the scheduler's control.
class simulated_loop final : public control_loop {
 public:
  std::int64_t time = 1'000'000'000;
  bool refuses_watches = false;

  void post(job& work) noexcept override;
  result<void> watch(int fd, handler& h) override;
  void unwatch(int fd) override;
  void at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) override;
  std::int64_t now() const noexcept override { return time; }

  bool has_jobs() const noexcept { return first_ != nullptr; }
  void run_job();
  /// Returns the time of the earliest timer.
  std::optional<std::int64_t> next_time();
  bool due() { return next_time().value_or(INT64_MAX) <= time; }
  /// Calls the earliest timer's handler if its time has come.
  bool fire();
  const std::vector<std::pair<int, handler*>>& watched() const noexcept { return watched_; }

 private:
  struct timer {
    std::int64_t deadline_ns;
    std::uint64_t number;  // the order in which they were set
    std::weak_ptr<handler> target;
    std::uint64_t tag;
  };
  std::vector<timer>::iterator earliest();

  job *first_ = nullptr, *last_ = nullptr;
  std::vector<std::pair<int, handler*>> watched_;
  std::vector<timer> timers_;
  std::uint64_t timers_set_ = 0;
};

}  // namespace troupe::simulation
