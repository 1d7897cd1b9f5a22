// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::plan {

/// Statistics of a library's plans since its engine was opened in the current worker.
struct statistics {
  std::uint64_t plans = 0;                ///< stored now
  std::uint64_t hits = 0;                 ///< found in memory
  std::uint64_t misses = 0;               ///< not found in memory
  std::uint64_t made = 0;                 ///< misses that led to a plan
  std::uint64_t waits = 0;                ///< for a plan that another thread was making
  std::uint64_t failures = 0;             ///< remembered failures
  std::uint64_t remembered_failures = 0;  ///< requests that a remembered failure answered
  std::uint64_t dropped = 0;              ///< plans removed for others
};

}  // namespace troupe::plan
