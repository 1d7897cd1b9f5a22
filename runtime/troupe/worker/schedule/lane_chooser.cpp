// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/worker/schedule/lane_chooser.hpp>

namespace troupe {

lane_chooser::lane_chooser(lane_policy policy, std::uint32_t pool, std::uint32_t helpers) noexcept
    : policy_(policy), first_helper_(max_lanes - std::clamp(helpers, 1u, protocol::most_helpers)) {
  const std::uint32_t room = first_helper_ - first_compute - 2;
  computes_ = policy == lane_policy::single   ? 1
              : policy == lane_policy::pooled ? std::clamp(pool, 1u, protocol::most_pool_lanes)
                                              : room;
}

lane_purpose lane_chooser::purpose_of(std::uint32_t lane) const noexcept {
  if (lane == upload) return lane_purpose::upload;
  if (lane == download) return lane_purpose::download;
  if (lane < high()) return lane_purpose::compute;
  if (lane == high()) return lane_purpose::high;
  if (lane == low()) return lane_purpose::low;
  return lane < first_helper_ ? lane_purpose::none : lane_purpose::helper;
}

}  // namespace troupe
