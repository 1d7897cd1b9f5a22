// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <span>

/// The measures that measure_list.inc lists. Each has a function that runs it, which another source defines.
namespace troupe::bench {

#define MEASURE(IDENTIFIER, NAME, UNIT, GOAL, LIMIT, OURS, RAW) \
  figures run_##IDENTIFIER(const settings&);                    \
  inline constexpr measure IDENTIFIER{NAME, UNIT, OURS, RAW, {goal::kind::GOAL, LIMIT}, run_##IDENTIFIER};
#include <bench/measure_list.inc>

/// Returns all measures for devices of an engine.
std::span<const measure> measures(std::string_view engine) noexcept;

}  // namespace troupe::bench
