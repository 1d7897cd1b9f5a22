// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/alarm_clock.hpp>
#include <troupe/base/time_span.hpp>

namespace troupe {

/// A clock for tests: time passes only in `advance`.
class manual_clock final : public alarm_clock {
 public:
  manual_clock();
  ~manual_clock();
  std::int64_t now_ns() noexcept override;
  pending<void> wake_at(std::int64_t time_ns) override;

  /// Moves the time forward and answers the alarms that become due, earliest first, on this thread.
  void advance(time_span by);
  /// Returns the number of outstanding alarms.
  std::size_t alarms() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
