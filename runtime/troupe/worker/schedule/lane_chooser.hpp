// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/schedule/hazards.hpp>

namespace troupe {

/// Chooses the lane of an operation. Lane 0 uploads, lane 1 downloads, and the last ones are for helpers. Those between
/// compute: the lanes for normal priority, then one for high and one for low.
class lane_chooser {
 public:
  lane_chooser(lane_policy policy, std::uint32_t pool, std::uint32_t helpers) noexcept;

  /// Returns the number of lanes that are streams on a GPU: all before the helpers'.
  std::uint32_t streams() const noexcept { return low() + 1; }
  static constexpr std::uint32_t upload = 0, download = 1, first_compute = 2;
  std::uint32_t high() const noexcept { return first_compute + computes_; }
  std::uint32_t low() const noexcept { return high() + 1; }
  lane_purpose purpose_of(std::uint32_t lane) const noexcept;

  /// Returns a lane. `library` is the engine's number in order of loading, `waits` what the operation waits for, and
  /// `backlog(lane)` the number of incomplete operations of a lane.
  template <class Backlog>
  std::uint32_t choose(std::uint32_t wanted, priority urgency, std::uint32_t library, const wait_list& waits,
                       Backlog&& backlog) noexcept {
    // Slow work never runs on a lane for urgent operations. Slow work of low priority has one helper.
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
    // Pooled: on the lane of an operation that it waits for, where the wait costs nothing, or else on the lane with the
    // least backlog.
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
