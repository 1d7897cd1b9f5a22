// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "device_rules.hpp"

#include <algorithm>

namespace troupe::simulation {

void device_rules::worker_will_serve(simulated_worker& w) {
  if (w.kill_wanted) run_.violated("worker " + std::to_string(w.id) + " was ended by the device but is about to serve");
  device_.set_current_worker(w);
  run_.record.note("worker will serve", w.id);
}

void device_rules::worker_killed(simulated_worker& w) {
  if (!w.dead) run_.record.note("worker is killed", w.id);
  if (!w.dead && w.serving && &w == device_.current_worker() && !deserved_to_die(w)) killed_without_reason_ = &w;
}

bool device_rules::deserved_to_die(const simulated_worker& w) const {
  if (w.dishonest || w.asked_to_stop || w.missed_memory) return true;
  const device_options& o = run_.settings.options;
  const std::int64_t now = device_.now();
  // A single ping that found no room is no reason: the next one would have.
  const bool was_asked = w.pinged || w.mute || (w.ping_dropped != 0 && o.heartbeat_timeout.after(w.ping_dropped) > now);
  if (was_asked && w.ping_sent != 0 && o.heartbeat_timeout.after(w.ping_sent) <= now) return true;
  const auto& all = log_.all();
  return std::any_of(all.begin(), all.end(), [&](const client_request& q) {
    if (!q.has_run_timeout) return false;
    // A call that several requests share is finished when the last of them is.
    if (q.started_by == &w) return q.finished_by != &w || q.joined_call;
    return !q.is_checked && o.start_timeout.after(q.sent_ns) <= now;
  });
}

void device_rules::begin_generation(std::uint64_t generation) {
  run_.record.note("generation", generation);
  ++run_.record.recoveries;
  if (generation != log_.generation() + 1) run_.violated("two generations in one step");
  log_.begin_generation(generation);
  // The data of a finished download may still be on their way to their place.
  log_.for_each_open([](client_request& q) {
    if (q.kind == request_kind::download && q.finished_by != nullptr && !q.answered && q.inputs_before_loss.empty())
      q.inputs_before_loss = q.inputs();
  });
  if (run_.settings.options.salvage == salvage::strict || device_.gave_up()) buffers_.lose_before(generation);
  recoveries_.push_back(device_.now());
  waiting_since_ = device_.now();
  if (!device_.gave_up() && ++losses_ > device_.workers_without_lack())
    run_.violated("a worker that could not serve because a resource was short counts as a fault");
  if (!device_.gave_up() &&
      recoveries_within(run_.settings.options.restart_window.nanoseconds) > run_.settings.options.restarts)
    run_.violated("the device restarted more often than allowed");
}

std::size_t device_rules::recoveries_within(std::int64_t window) const {
  return static_cast<std::size_t>(std::count_if(recoveries_.begin(), recoveries_.end(),
                                                [&](std::int64_t t) { return t + window > device_.now(); }));
}

void device_rules::check_killed() {
  if (killed_without_reason_ != nullptr && !device_.gave_up())
    run_.violated("worker " + std::to_string(killed_without_reason_->id) + " was killed although it served well");
  killed_without_reason_ = nullptr;
}

void device_rules::check_state() {
  constexpr std::int64_t slack = 10'000'000'000;  // the device counts from when it detects a fault, a little earlier
  const device_options& o = run_.settings.options;
  const device_state now = device_.state();
  if (now == device_state::stopped && state_ != device_state::stopped && !device_.closing()) {
    const bool may = state_ == device_state::starting || o.isolation == isolation::thread ||
                     recoveries_within(o.restart_window.nanoseconds + slack) > o.restarts ||
                     device_.had_unkillable_worker() ||
                     (state_ == device_state::recovering && o.start_timeout.after(waiting_since_) <= device_.now());
    if (!may) run_.violated("the device gave up too early: " + device_.core().admission.refusal().text());
  }
  if (state_ == device_state::stopped && now != device_state::stopped) {
    recoveries_.clear();
    waiting_since_ = device_.now();
  }
  if (now != state_) run_.record.note("state", static_cast<std::uint64_t>(now));
  state_ = now;
}

}  // namespace troupe::simulation
