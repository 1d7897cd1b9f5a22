// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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

/// Runs the schedules with the seeds `seed_of(0)`, `seed_of(1)` …, `count` of them, in a separate process, so that a
/// crash is reported as a failure.
summary run_many(const std::function<std::uint64_t(std::uint64_t)>& seed_of, std::uint64_t count);
/// Runs schedules `first`, `first + stride` …, `count` of them.
summary run_many(std::uint64_t first, std::uint64_t count, std::uint64_t stride = 1);

}  // namespace troupe::simulation
