// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// How work is spread over lanes, which run at the same time. The numbers travel to the worker.
enum class lane_policy : std::uint8_t {
  per_actor = 0,  ///< each library actor has its own
  pooled = 1,     ///< `lane_pool` lanes for everything, work goes where it waits least
  single = 2,     ///< one for everything but copies
};

}  // namespace troupe
