// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <troupe/base/time_span.hpp>
#include <vector>

namespace troupe {

/// Limits the restarts of a device or an actor to `restarts` within `window`.
class restart_intensity {
 public:
  restart_intensity(std::uint32_t restarts, time_span window) noexcept : restarts_(restarts), window_(window) {}
  /// Counts one more restart, at `now_ns`. Returns false if it exceeds the limit.
  bool admit(std::int64_t now_ns) {
    std::erase_if(recent_, [&](std::int64_t then) { return window_.after(then) <= now_ns; });
    recent_.push_back(now_ns);
    return recent_.size() <= restarts_;
  }
  /// Returns the number of restarts within the window that ended at the last `admit`.
  std::size_t recent() const noexcept { return recent_.size(); }
  void forget() noexcept { recent_.clear(); }

 private:
  std::uint32_t restarts_;
  time_span window_;
  std::vector<std::int64_t> recent_;  // oldest first
};

}  // namespace troupe
