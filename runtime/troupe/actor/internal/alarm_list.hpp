// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <troupe/async/pending_state.hpp>
#include <vector>

namespace troupe::detail {

/// Answers `cancelled` as soon as it is cancelled; the list forgets it later.
class alarm final : public pending_state<void> {
 public:
  explicit alarm(std::int64_t time_ns) noexcept : time_ns(time_ns) {}
  void cancel() noexcept override;
  const std::int64_t time_ns;
};

/// Alarms in the order of their times. Thread safe.
class alarm_list {
 public:
  /// True when it is the earliest now.
  bool add(ref<alarm> a);
  /// The alarms whose time has come, taken out, earliest first.
  std::vector<ref<alarm>> take_due(std::int64_t now_ns);
  /// INT64_MAX when there is none.
  std::int64_t earliest() const;
  std::size_t size() const;

 private:
  void drop_cancelled();

  mutable std::mutex guard_;
  std::vector<ref<alarm>> alarms_;  // latest first
  std::size_t tidy_at_ = 32;
};

}  // namespace troupe::detail
