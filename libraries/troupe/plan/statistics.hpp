// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::plan {

/// Statistics of a library's plans since the engine was opened in the current worker.
struct statistics {
  std::uint64_t plans = 0;                ///< plans in the cache now
  std::uint64_t hits = 0;                 ///< requests whose plan was in memory
  std::uint64_t misses = 0;               ///< requests whose plan was not in memory
  std::uint64_t made = 0;                 ///< plans that were made
  std::uint64_t waits = 0;                ///< requests that waited for a plan that another thread was making
  std::uint64_t failures = 0;             ///< failures to make a plan that were remembered
  std::uint64_t remembered_failures = 0;  ///< requests that failed with a remembered failure
  std::uint64_t dropped = 0;              ///< plans removed because the cache was full
};

}  // namespace troupe::plan
