// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::plan {

/// How a library's plans were found, since its engine was opened in the present worker.
struct statistics {
  std::uint64_t plans = 0;                ///< kept now
  std::uint64_t hits = 0;                 ///< found in memory
  std::uint64_t misses = 0;               ///< not found in memory
  std::uint64_t made = 0;                 ///< of the misses: those that led to a plan
  std::uint64_t waits = 0;                ///< for a plan that another thread was making
  std::uint64_t failures = 0;             ///< that were remembered
  std::uint64_t remembered_failures = 0;  ///< answered by one that was remembered
  std::uint64_t dropped = 0;              ///< plans that made room for others
};

}  // namespace troupe::plan
