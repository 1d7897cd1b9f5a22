// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace troupe::plan {

/// Logs each distinct message of an engine about its plans once, such as "cannot use FILE: it is damaged". Thread-safe.
class remarks {
 public:
  explicit remarks(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  /// Logs the message, unless it is empty, was logged before, or 32 other messages have been logged.
  void once(const std::string& text) {
    constexpr std::size_t most = 32;
    const std::scoped_lock guard(lock_);
    if (text.empty() || said_.size() == most || std::find(said_.begin(), said_.end(), text) != said_.end()) return;
    said_.push_back(text);
    say_(text);
  }

 private:
  const std::function<void(const std::string&)> say_;
  std::mutex lock_;
  std::vector<std::string> said_;
};

}  // namespace troupe::plan
