// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <troupe/async/answers/pending_state.hpp>
#include <vector>

namespace troupe::detail {

/// An alarm. Cancelling it answers it at once; the list removes it later.
class alarm final : public pending_state<void> {
 public:
  explicit alarm(std::int64_t time_ns) noexcept : time_ns(time_ns) {}
  void cancel() noexcept override;
  const std::int64_t time_ns;
};

/// A list of alarms, ordered by time. Thread-safe.
class alarm_list {
 public:
  /// Adds an alarm. Returns true if it is now the earliest.
  bool add(ref<alarm> a);
  /// Removes and returns the due alarms, earliest first.
  std::vector<ref<alarm>> take_due(std::int64_t now_ns);
  /// Returns the time of the earliest alarm; INT64_MAX if there is none.
  std::int64_t earliest() const;
  std::size_t size() const;

 private:
  void drop_cancelled();

  mutable std::mutex guard_;
  std::vector<ref<alarm>> alarms_;  // sorted, the latest first
  std::size_t tidy_at_ = 32;        // number of alarms at which cancelled ones are removed
};

}  // namespace troupe::detail
