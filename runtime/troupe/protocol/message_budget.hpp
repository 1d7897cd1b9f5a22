// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe::protocol {

/// Limits a stream of messages to `per_second` in each second, after `at_once` that may come at any time. The
/// application ends a worker that exceeds its budget; a worker stays far below it, whatever its engines do.
class message_budget {
 public:
  constexpr message_budget(std::int64_t at_once, std::int64_t per_second) noexcept
      : interval_ns_(1'000'000'000 / per_second), ahead_ns_(at_once * interval_ns_) {}

  /// Counts a message. Returns false, and does not count it, if it exceeds the budget.
  constexpr bool admit(std::int64_t now_ns) noexcept {
    const std::int64_t next = std::max(spent_until_ns_, now_ns - ahead_ns_) + interval_ns_;
    if (next > now_ns) return false;
    spent_until_ns_ = next;
    return true;
  }

 private:
  std::int64_t interval_ns_, ahead_ns_;
  std::int64_t spent_until_ns_ = INT64_MIN;
};

/// The budget of a worker's messages, without one answer for each ping.
inline constexpr message_budget budget_of_worker{1000, 100};
/// The share of that budget for messages that a worker's engines cause.
inline constexpr message_budget budget_of_engines{800, 80};

}  // namespace troupe::protocol
