// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

/// The state that the driver and the hostile workers share, in a file that both map.
namespace adversary {

struct stage_page {
  static constexpr std::int32_t nobody = 0, everybody = -1;

  /// The process that must attack now. Hostile workers sleep on this word.
  std::atomic<std::int32_t> attacker{nobody};
  std::atomic<std::uint32_t> attacks{0};  ///< number of attacks that have begun
  std::atomic<std::int64_t> begun_ns{0};  ///< when the newest attack began, on the monotonic clock
  std::atomic<std::int64_t> ended_ns{0};  ///< when a thread that attacked ended by itself
  std::atomic<std::uint64_t> seed{0};
  std::atomic<std::int32_t> application{0};  ///< the process that is attacked
  /// number of times that a worker succeeded in something that must be impossible
  std::atomic<std::uint32_t> succeeded{0};
  std::atomic<std::uint32_t> secret{0};  ///< number of times that a worker has read the bait in the driver's memory
};

inline constexpr const char* stage_variable = "TROUPE_ADVERSARY_STAGE";
inline constexpr const char* strategy_variable = "TROUPE_ADVERSARY_STRATEGY";
/// Begin of a text on the driver's heap that no worker may read. The rest is made at run time.
inline constexpr const char* bait_prefix = "an adversary's bait";

}  // namespace adversary
