// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <troupe/async/pending_state.hpp>
#include <vector>

namespace troupe::detail {

/// Is answered as soon as it is cancelled; the list removes it later.
class alarm final : public pending_state<void> {
 public:
  explicit alarm(std::int64_t time_ns) noexcept : time_ns(time_ns) {}
  void cancel() noexcept override;
  const std::int64_t time_ns;
};

/// Alarms ordered by time. Thread-safe.
class alarm_list {
 public:
  /// Returns true if the alarm is now the earliest.
  bool add(ref<alarm> a);
  /// Removes and returns the due alarms, earliest first.
  std::vector<ref<alarm>> take_due(std::int64_t now_ns);
  /// The time of the earliest alarm; INT64_MAX if there is none.
  std::int64_t earliest() const;
  std::size_t size() const;

 private:
  void drop_cancelled();

  mutable std::mutex guard_;
  std::vector<ref<alarm>> alarms_;  // latest first
  std::size_t tidy_at_ = 32;        // the size at which cancelled alarms are removed
};

}  // namespace troupe::detail
