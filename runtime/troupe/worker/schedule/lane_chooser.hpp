// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/schedule/hazards/hazards.hpp>

namespace troupe {

/// Chooses the lane of an operation. Lane 0 uploads, lane 1 downloads, and the last lanes are those of helper threads.
/// The lanes between them compute: first those for normal priority, then one for high and one for low priority.
class lane_chooser {
 public:
  lane_chooser(lane_policy policy, std::uint32_t pool, std::uint32_t helpers) noexcept;

  /// Returns the number of lanes that are streams on a GPU: all but those of helper threads.
  std::uint32_t streams() const noexcept { return low() + 1; }
  static constexpr std::uint32_t upload = 0, download = 1, first_compute = 2;
  std::uint32_t high() const noexcept { return first_compute + computes_; }
  std::uint32_t low() const noexcept { return high() + 1; }
  lane_purpose purpose_of(std::uint32_t lane) const noexcept;

  /// What is known about an operation before it has a lane.
  struct wish {
    std::uint32_t wanted;  ///< a value of troupe_lane
    priority urgency;
    std::uint32_t library;       ///< number of its engine, in the order of loading
    bool on_any_stream = false;  ///< true if it is enqueued fast, and needs nothing that belongs to a lane
  };

  /// Returns the lane of an operation that waits for `waits`. `lanes.backlog(lane)` is the number of incomplete
  /// operations of a lane, and `lanes.is_last(position)` is true if nothing has been issued after a position.
  template <class Lanes>
  std::uint32_t choose(const wish& w, const wait_list& waits, const Lanes& lanes) noexcept {
    const auto [wanted, urgency, library, on_any_stream] = w;
    // Slow work never runs on a lane for urgent operations. Slow work of low priority has one helper thread.
    if (wanted == troupe_lane_helper && urgency == priority::low) return max_lanes - 1;
    if (wanted != troupe_lane_helper && urgency != priority::normal) return urgency == priority::high ? high() : low();
    if (wanted == troupe_lane_helper) return least(first_helper_, max_lanes, lanes);
    if (on_any_stream)
      if (const std::uint32_t l = nearest(w, waits, lanes); l != max_lanes) return l;
    if (wanted == troupe_lane_upload) return upload;
    if (wanted == troupe_lane_download) return download;
    return latest_ = for_library(w, waits, lanes);
  }

 private:
  // A chain of dependent operations stays on one stream, because a wait for another stream costs the GPU several
  // microseconds. But nothing joins a lane with more work than the operations waited for. Returns max_lanes if there is
  // no such lane.
  template <class Lanes>
  std::uint32_t nearest(const wish& w, const wait_list& waits, const Lanes& lanes) const noexcept {
    const std::uint32_t before = waits.lanes();
    // The next step of a chain may run where the last one did.
    if (before == 0) return w.wanted != troupe_lane_anywhere && lanes.backlog(latest_) == 0 ? latest_ : max_lanes;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(before));
    const bool is_near = std::has_single_bit(before) && first_compute <= lane && lane < high() &&
                         lanes.is_last({lane, waits.sequence(lane)});
    return is_near ? lane : max_lanes;
  }

  template <class Lanes>
  std::uint32_t for_library(const wish& w, const wait_list& waits, const Lanes& lanes) const noexcept {
    if (w.wanted == troupe_lane_behind) {
      const std::uint32_t before = waits.lanes();
      if (std::has_single_bit(before) && before >> streams() == 0)
        return static_cast<std::uint32_t>(std::countr_zero(before));
      if (before == 0) return least(first_compute, first_compute + computes_, lanes);
    }
    if (computes_ == 1) return first_compute;
    if (policy_ == lane_policy::per_actor) return first_compute + w.library % computes_;
    // Pooled: the lane of an operation that it waits for, where the wait costs nothing, or otherwise the lane with the
    // smallest backlog.
    for (std::uint32_t l = first_compute; l < first_compute + computes_; ++l)
      if (waits.sequence(l) != 0) return l;
    return least(first_compute, first_compute + computes_, lanes);
  }

  template <class Lanes>
  static std::uint32_t least(std::uint32_t begin, std::uint32_t end, const Lanes& lanes) noexcept {
    std::uint32_t best = begin;
    for (std::uint32_t l = begin; l < end; ++l) {
      if (lanes.backlog(l) == 0) return l;
      if (lanes.backlog(l) < lanes.backlog(best)) best = l;
    }
    return best;
  }

  lane_policy policy_;
  std::uint32_t first_helper_, computes_;
  std::uint32_t latest_ = first_compute;  ///< the lane of the last operation of a library
};

}  // namespace troupe
