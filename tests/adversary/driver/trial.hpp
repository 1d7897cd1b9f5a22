// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tests/adversary/worker/strategy.hpp>
#include <vector>

namespace adversary {

/// The promises while a worker is hostile. Times are for a machine on which a device recovers within
/// `usual_recovery_ms` without an attack; on a slower or busier one they are longer in proportion, as the control run
/// of the same process measures it.
struct promises {
  static constexpr double usual_recovery_ms = 12;
  static constexpr double answer_after_limit_ms = 100;  ///< beyond run_timeout
  static constexpr double other_recovery_ms = 50;       ///< 99 % of them; 90 % in a short run
  static constexpr double flood_ends_ms = 1000;
  static constexpr double serves_again_ms = 1000;
  static constexpr double growth_bytes = 8 << 20;
  static constexpr double cores = 0.10;  ///< of the application, beyond what it uses without an attack
  static constexpr double noise = 0.25;  ///< of what it uses without: two runs of the same work differ by so much
};

struct outcome {
  std::vector<std::string> broken, late;  ///< what broke, apart from times; times that were exceeded
  std::string figures;
  bool held() const noexcept { return broken.empty() && late.empty(); }
};

/// Runs one strategy against an application with two devices, in this process.
outcome try_strategy(const strategy& s, double seconds, std::uint64_t seed);

/// Writes to the standard output that the driver was started with. A trial has another one, which its workers share.
void say(const std::string& text);

}  // namespace adversary
