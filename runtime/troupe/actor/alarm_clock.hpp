// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <troupe/async/pending.hpp>

namespace troupe {

/// A clock with alarms. Supervisors read the time from it, so that tests need not wait.
class alarm_clock {
 public:
  virtual std::int64_t now_ns() noexcept = 0;
  /// Returns a pending that is answered at `time_ns`. Cancelling the pending answers it at once.
  virtual pending<void> wake_at(std::int64_t time_ns) = 0;

 protected:
  ~alarm_clock() = default;
};

namespace detail {
class alarm_list;
}

/// The monotonic clock: see `now_ns`. Its thread starts with the first alarm and sleeps between alarms. The destructor
/// cancels outstanding alarms, and those that are requested while it runs.
class monotonic_clock final : public alarm_clock {
 public:
  monotonic_clock();
  ~monotonic_clock();
  std::int64_t now_ns() noexcept override;
  pending<void> wake_at(std::int64_t time_ns) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
