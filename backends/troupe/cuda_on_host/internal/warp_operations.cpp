// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// How the fibers of one warp wait for each other: meetings, shuffles, and places where they continue together.
#include <algorithm>
#include <bit>
#include <troupe/cuda_on_host/internal/fibers.hpp>

namespace troupe::cuda_on_host {

namespace {

// Marks a meeting as a shuffle, which `complete_shuffle` completes because a lane may read lanes outside of the
// meeting.
void read_lanes(troupe_host_warp*, std::uint32_t) {}

}  // namespace

void fibers::meet(std::uint32_t mask, operation complete_it, const char* file, std::uint32_t line) {
  warp& w = warps_[warp_];
  const std::uint32_t bit = 1u << lane_;
  if ((mask & bit) == 0) diverged({file, line}, 0, block_->thread, "is not in the mask that it passes");
  std::uint32_t index = none;
  for (std::uint32_t rest = w.meetings; rest != 0 && index == none; rest &= rest - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (w.meeting_of[i].mask == mask && w.meeting_of[i].complete == complete_it) index = i;
  }
  if (index == none) {
    index = static_cast<std::uint32_t>(std::countr_one(w.meetings));
    w.meetings |= 1u << index;
    w.meeting_of[index] = {complete_it, mask, 0, {file, line}};
  }
  meeting& m = w.meeting_of[index];
  m.arrived |= bit;
  sleep_at({file, line});
  if (m.arrived == (mask & w.live)) complete(w, index);
  wait();
}

void fibers::shuffle(std::uint32_t mask, const char* file, std::uint32_t line) { meet(mask, read_lanes, file, line); }

// Releases the lanes of a meeting. A shuffle is postponed while other lanes can run: they may be about to join it.
void fibers::complete(warp& w, std::uint32_t index) {
  const meeting& m = w.meeting_of[index];
  if (m.arrived != 0 && m.complete == read_lanes) {
    if (m.arrived == ~0u) {  // every lane is in the meeting, so none can join
      troupe_host_warp& x = exchange_[warp_];
      for (std::uint32_t lane = 0; lane < lanes; ++lane) x.out[lane] = x.in[x.argument[lane] & (lanes - 1)];
    } else if (w.ready != 0 || w.released != 0 || w.postponed != 0) {
      w.postponed |= 1u << index;
      return;
    } else {
      complete_shuffle(w, index);
    }
  } else if (m.arrived != 0 && m.complete) {
    m.complete(&exchange_[warp_], m.arrived);
  }
  w.meetings &= ~(1u << index);
  w.released |= m.arrived;
}

// Exchanges the values of a shuffle. Reading a lane that is not in a shuffle at this source line yields 0, as on the
// hardware.
void fibers::complete_shuffle(warp& w, std::uint32_t index) {
  const meeting& m = w.meeting_of[index];
  troupe_host_warp& x = exchange_[warp_];
  for (std::uint32_t rest = m.arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t from = x.argument[lane] & (lanes - 1);
    const bool is_readable = (m.arrived >> from & 1) != 0 || waits_in_shuffle(w, from, m.at);
    x.out[lane] = is_readable ? x.in[from] : 0;
  }
}

bool fibers::waits_in_shuffle(const warp& w, std::uint32_t lane, place at) const noexcept {
  for (std::uint32_t rest = w.meetings; rest != 0; rest &= rest - 1) {
    const meeting& m = w.meeting_of[static_cast<std::uint32_t>(std::countr_zero(rest))];
    if ((m.arrived >> lane & 1) != 0 && m.complete == read_lanes && m.at == at) return true;
  }
  return false;
}

// Completes the postponed shuffles: no lane of the warp can run, so none can join. All lanes read before any continues.
void fibers::release_postponed(warp& w) {
  for (std::uint32_t rest = w.postponed; rest != 0; rest &= rest - 1)
    complete_shuffle(w, static_cast<std::uint32_t>(std::countr_zero(rest)));
  for (std::uint32_t rest = w.postponed; rest != 0; rest &= rest - 1)
    w.ready |= w.meeting_of[static_cast<std::uint32_t>(std::countr_zero(rest))].arrived;
  w.meetings &= ~w.postponed;
  w.postponed = 0;
  ready_warps_ |= 1u << warp_;
}

void fibers::in_step(std::uint32_t step) {
  const std::uint32_t self = block_->thread;
  warps_[warp_].stepping |= 1u << lane_;
  fibers_[self].step = step;
  sleep_at({nullptr, 0});
  wait();
}

// Called if no lane of the warp can run. Releases the lanes that are furthest behind, so that they meet the others
// where the paths join.
void fibers::release_step(std::uint32_t warp_index) {
  warp& w = warps_[warp_index];
  std::uint32_t first = none, group = 0;
  for (std::uint32_t rest = w.stepping; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t step = fibers_[warp_index * lanes + lane].step;
    if (step < first) group = 0;
    first = std::min(first, step);
    if (step == first) group |= 1u << lane;
  }
  w.stepping &= ~group;
  w.ready |= group;
  ready_warps_ |= 1u << warp_index;
}

std::uint32_t fibers::converged(const char* file, std::uint32_t line) {
  warps_[warp_].converging |= 1u << lane_;
  sleep_at({file, line});
  const std::uint32_t self = block_->thread;
  wait();
  return fibers_[self].converged_mask;
}

// Called if no lane of the warp can run. Releases all lanes that wait at the same source line, together.
void fibers::release_converged(std::uint32_t warp_index) {
  warp& w = warps_[warp_index];
  const place at = fibers_[warp_index * lanes + static_cast<std::uint32_t>(std::countr_zero(w.converging))].at;
  std::uint32_t group = 0;
  for (std::uint32_t rest = w.converging; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (fibers_[warp_index * lanes + lane].at == at) group |= 1u << lane;
  }
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1)
    fibers_[warp_index * lanes + static_cast<std::uint32_t>(std::countr_zero(rest))].converged_mask = group;
  w.converging &= ~group;
  w.ready |= group;
  ready_warps_ |= 1u << warp_index;
}

}  // namespace troupe::cuda_on_host
