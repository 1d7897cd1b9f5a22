// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/schedule/hazards.hpp>

namespace troupe {

/// Which lane an operation gets. Lane 0 uploads, lane 1 downloads, the last ones are the helpers', those between
/// compute: what has no special priority, then one lane for high and one for low.
class lane_chooser {
 public:
  lane_chooser(lane_policy policy, std::uint32_t pool, std::uint32_t helpers) noexcept;

  /// The lanes before the helpers': where there are streams, these are.
  std::uint32_t streams() const noexcept { return low() + 1; }
  static constexpr std::uint32_t upload = 0, download = 1, first_compute = 2;
  std::uint32_t high() const noexcept { return first_compute + computes_; }
  std::uint32_t low() const noexcept { return high() + 1; }
  lane_purpose purpose_of(std::uint32_t lane) const noexcept;

  /// `library` counts engines in order of loading; `waits` is what the operation must wait for; `backlog(lane)` how
  /// much a lane has to do.
  template <class Backlog>
  std::uint32_t choose(std::uint32_t wanted, priority urgency, std::uint32_t library, const wait_list& waits,
                       Backlog&& backlog) noexcept {
    // Slow work is never on a lane where others may be in a hurry; where it is not itself, one helper must do.
    if (wanted == troupe_lane_helper && urgency == priority::low) return max_lanes - 1;
    if (wanted != troupe_lane_helper && urgency != priority::normal) return urgency == priority::high ? high() : low();
    switch (wanted) {
      case troupe_lane_upload:
        return upload;
      case troupe_lane_download:
        return download;
      case troupe_lane_helper:
        return least(first_helper_, max_lanes, backlog);
      default:
        break;
    }
    if (wanted == troupe_lane_behind) {
      const std::uint32_t before = waits.lanes();
      if (std::has_single_bit(before) && before >> streams() == 0)
        return static_cast<std::uint32_t>(std::countr_zero(before));
      if (before == 0) return least(first_compute, first_compute + computes_, backlog);
    }
    if (computes_ == 1) return first_compute;
    if (policy_ == lane_policy::per_actor) return first_compute + library % computes_;
    // Pooled: behind what it waits for, where waiting costs nothing; else where the least is to be done.
    for (std::uint32_t l = first_compute; l < first_compute + computes_; ++l)
      if (waits.sequence(l) != 0) return l;
    return least(first_compute, first_compute + computes_, backlog);
  }

 private:
  template <class Backlog>
  static std::uint32_t least(std::uint32_t begin, std::uint32_t end, Backlog&& backlog) noexcept {
    std::uint32_t best = begin;
    for (std::uint32_t l = begin; l < end; ++l) {
      if (backlog(l) == 0) return l;
      if (backlog(l) < backlog(best)) best = l;
    }
    return best;
  }
  lane_policy policy_;
  std::uint32_t first_helper_, computes_;
};

}  // namespace troupe
