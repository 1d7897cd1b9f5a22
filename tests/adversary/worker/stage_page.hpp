// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

/// The messages between the driver and the hostile workers, in a file that both map.
namespace adversary {

struct stage_page {
  static constexpr std::int32_t nobody = 0, everybody = -1;

  /// The process that attacks now. Hostile workers sleep here.
  std::atomic<std::int32_t> attacker{nobody};
  std::atomic<std::uint32_t> attacks{0};  ///< how many have begun
  std::atomic<std::int64_t> begun_ns{0};  ///< when the newest began, monotonic clock
  std::atomic<std::int64_t> ended_ns{0};  ///< when a thread that attacked stopped by itself
  std::atomic<std::uint64_t> seed{0};
  std::atomic<std::int32_t> application{0};  ///< the process that is attacked
  std::atomic<std::uint32_t> succeeded{0};   ///< what a worker must not be able to do, and did
  std::atomic<std::uint32_t> secret{0};      ///< a bait in the driver's memory has been read
};

inline constexpr const char* stage_variable = "TROUPE_ADVERSARY_STAGE";
inline constexpr const char* strategy_variable = "TROUPE_ADVERSARY_STRATEGY";
/// Begins a text on the driver's heap that no worker may read. The rest is made at run time.
inline constexpr const char* bait_prefix = "an adversary's bait";

}  // namespace adversary
