// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/worker/internal/lane_chooser.hpp>

namespace troupe {

lane_chooser::lane_chooser(lane_policy policy, std::uint32_t pool, std::uint32_t helpers) noexcept
    : policy_(policy), first_helper_(max_lanes - std::clamp(helpers, 1u, 4u)) {
  const std::uint32_t room = first_helper_ - first_compute;
  computes_ = policy == lane_policy::single ? 1 : policy == lane_policy::pooled ? std::clamp(pool, 1u, room) : room;
}

}  // namespace troupe
