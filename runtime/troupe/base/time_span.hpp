// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <cstdint>

namespace troupe {

/// A length of time. Converts from any `std::chrono` duration.
struct time_span {
  std::int64_t nanoseconds = 0;

  constexpr time_span() noexcept = default;
  template <class Duration>
    requires requires { typename Duration::period; }
  constexpr time_span(Duration d) noexcept
      : nanoseconds(from_seconds(static_cast<long double>(d.count()) * Duration::period::num / Duration::period::den)) {
  }

  static constexpr time_span of_seconds(std::int64_t seconds) noexcept {
    time_span t;
    t.nanoseconds = seconds * 1'000'000'000;
    return t;
  }
  static constexpr time_span for_ever() noexcept {
    time_span t;
    t.nanoseconds = INT64_MAX;
    return t;
  }
  constexpr bool unlimited() const noexcept { return nanoseconds == INT64_MAX; }
  /// Returns the time this long after `now_ns`, at most INT64_MAX.
  constexpr std::int64_t after(std::int64_t now_ns) const noexcept {
    return nanoseconds > INT64_MAX - now_ns ? INT64_MAX : now_ns + nanoseconds;
  }
  friend constexpr bool operator==(time_span, time_span) noexcept = default;

 private:
  static constexpr std::int64_t from_seconds(long double s) noexcept {
    return s >= 9.2e9L    ? INT64_MAX
           : s <= -9.2e9L ? INT64_MIN
                          : static_cast<std::int64_t>(s * 1e9L + (s < 0 ? -0.5L : 0.5L));
  }
};

}  // namespace troupe
