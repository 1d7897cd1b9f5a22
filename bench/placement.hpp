// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace troupe::bench {

/// Keeps this thread on the first core that it may use, and other processes on the first or the second one, until it
/// goes. What a wake costs depends on where the woken one runs more than on anything else, so that both sides of a
/// comparison run in the same places.
class placement {
 public:
  enum class where { one_core, two_cores };

  [[nodiscard]] placement(where others, std::vector<int> pids);
  ~placement();
  placement(const placement&) = delete;
  placement& operator=(const placement&) = delete;

  /// For a thread of this program that plays the other side.
  static void join_others(where others) noexcept;

 private:
  std::vector<int> pids_;
};

}  // namespace troupe::bench
