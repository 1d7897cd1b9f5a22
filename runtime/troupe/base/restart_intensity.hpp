// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <troupe/base/time_span.hpp>
#include <vector>

namespace troupe {

/// Says when there were too many restarts: more than `restarts` within `window`. Of devices and of actors.
class restart_intensity {
 public:
  restart_intensity(std::uint32_t restarts, time_span window) noexcept : restarts_(restarts), window_(window) {}
  /// One more restart is wanted now. False when it is one too many; it counts either way.
  bool admit(std::int64_t now_ns) {
    std::erase_if(recent_, [&](std::int64_t then) { return window_.after(then) <= now_ns; });
    recent_.push_back(now_ns);
    return recent_.size() <= restarts_;
  }
  /// Those that count.
  std::size_t recent() const noexcept { return recent_.size(); }
  void forget() noexcept { recent_.clear(); }

 private:
  std::uint32_t restarts_;
  time_span window_;
  std::vector<std::int64_t> recent_;  // oldest first
};

}  // namespace troupe
