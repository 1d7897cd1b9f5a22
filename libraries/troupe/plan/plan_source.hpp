// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::plan {

/// The way in which a plan was chosen.
enum class plan_source : std::uint8_t {
  none = 0,       ///< the engine has only one plan
  given = 1,      ///< the request specifies the plan
  predicted = 2,  ///< the fastest plan according to a cost model or to the heuristic of the vendor's library
  measured = 3,   ///< the fastest of several measured plans
  stored = 4,     ///< an earlier request, perhaps of another process, chose or measured the plan
};

}  // namespace troupe::plan
