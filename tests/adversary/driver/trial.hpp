// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tests/adversary/worker/strategy.hpp>
#include <vector>

namespace adversary {

/// The limits while a worker is hostile. Times are for a machine on which a device recovers within `usual_recovery_ms`
/// without an attack; on a slower or busier machine they are longer in proportion, as the control run of the same
/// process measures.
struct promises {
  static constexpr double usual_recovery_ms = 12;
  static constexpr double answer_after_limit_ms = 100;  ///< after the run_timeout
  static constexpr double other_recovery_ms = 50;       ///< for 99 % of the recoveries; for 90 % in a short run
  static constexpr double flood_ends_ms = 1000;
  static constexpr double serves_again_ms = 1000;
  static constexpr double growth_bytes = 8 << 20;
  static constexpr double cores = 0.10;  ///< processor time of the application beyond what it uses without an attack
  /// allowed difference between two runs of the same work, as a share of the time without an attack
  static constexpr double noise = 0.25;
};

struct outcome {
  std::vector<std::string> broken, late;  ///< promises that were broken, other than times; and times that were exceeded
  std::string figures;
  bool held() const noexcept { return broken.empty() && late.empty(); }
};

/// Runs one strategy against an application with two devices, in this process.
outcome try_strategy(const strategy& s, double seconds, std::uint64_t seed);

/// Writes to the standard output with which the driver was started. A trial has another one, which its workers share.
void say(const std::string& text);

}  // namespace adversary
