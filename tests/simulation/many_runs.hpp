// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "simulation.hpp"

namespace troupe::simulation {

struct failed_run {
  std::uint64_t seed = 0;
  std::string text;  ///< what was wrong, when, and the shortest schedule found that shows it
};

struct summary {
  std::optional<failed_run> failure;
  std::uint64_t finished = 0, hash_of_all = 0, recoveries = 0, garbage = 0, answers = 0, failures = 0;
};

/// Runs schedules `first`, `first + stride` …, `count` of them, in a separate process, so that a crash is reported as a
/// failure.
summary run_many(std::uint64_t first, std::uint64_t count, std::uint64_t stride = 1);

}  // namespace troupe::simulation
