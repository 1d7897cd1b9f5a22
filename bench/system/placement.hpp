// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace troupe::bench {

/// Keeps this thread on the first core that it may use, and other processes on the first or second one, for its
/// lifetime. The cost of waking a thread depends mostly on where it runs, so both sides of a comparison must run on the
/// same cores.
class placement {
 public:
  enum class where { one_core, two_cores };

  [[nodiscard]] placement(where others, std::vector<int> pids);
  ~placement();
  placement(const placement&) = delete;
  placement& operator=(const placement&) = delete;

  /// Moves the calling thread, which acts as the other side, to the core of the other processes.
  static void join_others(where others) noexcept;

 private:
  std::vector<int> pids_;
};

}  // namespace troupe::bench
