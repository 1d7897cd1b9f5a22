// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The distribution of work over lanes, which run at the same time. The enumerators' numbers are sent to the worker.
enum class lane_policy : std::uint8_t {
  per_actor = 0,  ///< each library actor has lanes of its own
  pooled = 1,     ///< `lane_pool` lanes serve all actors; a request goes to the lane on which it waits least
  single = 2,     ///< one lane serves all requests but copies
};

/// The purpose of a lane.
enum class lane_purpose : std::uint8_t { none, upload, download, compute, high, low, helper };

/// The rank of a request: it decides which of several waiting requests starts first, and which gets more of the device
/// while several run. It never changes an order that data dependencies demand. The enumerators' numbers are sent to the
/// worker.
enum class priority : std::uint8_t {
  normal = 0,
  high = 1,  ///< has a lane of its own; of requests with a lower priority, waits only for those that it depends on
  low = 2,   ///< has a lane of its own, so that no other request waits for it; runs when the device is idle
};

}  // namespace troupe
