// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The distribution of work over lanes, which run at the same time. The values are sent to the worker.
enum class lane_policy : std::uint8_t {
  per_actor = 0,  ///< each library actor has its own
  pooled = 1,     ///< `lane_pool` lanes serve all; work goes where it waits least
  single = 2,     ///< one lane serves everything but copies
};

/// The purpose of a lane.
enum class lane_purpose : std::uint8_t { none, upload, download, compute, high, low, helper };

/// Decides which of several waiting requests goes first, and which gets more of the device while several run. It
/// changes no order that data demands. The values are sent to the worker.
enum class priority : std::uint8_t {
  normal = 0,
  high = 1,  ///< has its own lane: of lower priority, it waits only for requests that it depends on
  low = 2,   ///< has its own lane, so that no other request waits for it; runs when the others leave room
};

}  // namespace troupe
