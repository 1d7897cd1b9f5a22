// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace troupe::bench {

/// Keeps this thread on the first core that it may use, and other processes on the first or second one, until
/// destroyed. The cost of a wake depends mostly on where the woken thread runs, so both sides of a comparison must run
/// in the same places.
class placement {
 public:
  enum class where { one_core, two_cores };

  [[nodiscard]] placement(where others, std::vector<int> pids);
  ~placement();
  placement(const placement&) = delete;
  placement& operator=(const placement&) = delete;

  /// Places a thread of this program that acts as the other side.
  static void join_others(where others) noexcept;

 private:
  std::vector<int> pids_;
};

}  // namespace troupe::bench
