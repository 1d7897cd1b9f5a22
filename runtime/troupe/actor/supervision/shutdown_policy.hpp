// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/time_span.hpp>

namespace troupe {

/// The way in which a supervisor stops a child.
class shutdown_policy {
 public:
  enum class kind : std::uint8_t { by_type, brutal_kill, timeout, infinity };

  /// Selects a limit of 5 s for a worker, and none for a supervisor, which has limits for its own children.
  constexpr shutdown_policy() noexcept = default;
  /// Selects an orderly stop, and a kill if the child has not ended in time.
  constexpr shutdown_policy(time_span timeout) noexcept : kind_(kind::timeout), timeout_(timeout) {}
  template <class Duration>
    requires requires { typename Duration::period; }
  constexpr shutdown_policy(Duration timeout) noexcept : shutdown_policy(time_span(timeout)) {}
  static constexpr shutdown_policy brutal_kill() noexcept { return shutdown_policy(kind::brutal_kill); }
  /// Selects an orderly stop, however long it takes.
  static constexpr shutdown_policy infinity() noexcept { return shutdown_policy(kind::infinity); }

  constexpr kind how() const noexcept { return kind_; }
  constexpr time_span timeout() const noexcept { return timeout_; }

 private:
  explicit constexpr shutdown_policy(kind k) noexcept : kind_(k) {}
  kind kind_ = kind::by_type;
  time_span timeout_;
};

}  // namespace troupe
