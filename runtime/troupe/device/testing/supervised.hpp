// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/recovery/supervisor.hpp>

namespace troupe::testing_device {

using event = device_supervisor::event_kind;
using kind = device_supervisor::action_kind;
using actions = std::vector<device_supervisor::action>;

constexpr std::int64_t second = 1'000'000'000;

inline const char* name(event e) {
  const char* const names[] = {"opened",          "worker_ready", "worker_failed", "worker_exited", "not_launched",
                               "work_ended",      "quiesced",     "misbehaved",    "cannot_serve",  "close_asked",
                               "close_now_asked", "reset_asked",  "drained",       "tick"};
  return names[static_cast<int>(e)];
}

// A supervisor with a clock of its own: workers must start within 30 s and stop within 5 s; three restarts in 60 s are
// tolerated.
struct supervised {
  explicit supervised(device_supervisor::limits l = {}) : s(l) {}
  device_supervisor s;
  std::int64_t now = 100 * second;
  std::string history;

  actions feed(event e, std::uint32_t worker = 0) {
    history += std::string(" ") + name(e) + (worker != 0 ? std::to_string(worker) : "");
    const bool has_cause = e == event::worker_failed || e == event::worker_exited || e == event::not_launched ||
                           e == event::misbehaved || e == event::cannot_serve;
    const reaction how = e == event::not_launched ? reaction::retry_later : reaction::context_lost;
    return s.on(
        {e, worker, has_cause ? std::optional(error(how, "test", std::string("cause: ") + name(e))) : std::nullopt},
        now);
  }
  // Returns the actions as text: "launch1,serve1".
  std::string on(event e, std::uint32_t worker = 0) { return text(feed(e, worker)); }
  // The GPU has ended the worker's kernels, and copies for up to `copies` after its threads have ended.
  std::string ends_work(std::uint32_t worker, time_span copies = {}) {
    history += " work_ended" + std::to_string(worker);
    return text(s.on({.kind = event::work_ended, .worker = worker, .copies = copies}, now));
  }
  std::string later(std::int64_t ns) {
    now += ns;
    return on(event::tick);
  }
  static std::string text(const actions& all) {
    std::string out;
    for (const auto& a : all) out += (out.empty() ? "" : ",") + text(a);
    return out;
  }
  static std::string text(const device_supervisor::action& a) {
    const char* const names[] = {"launch",         "admit_worker",  "standby_ready", "serve",        "refuse_new",
                                 "accept_new",     "cancel_queued", "await_drained", "stop_worker",  "kill_worker",
                                 "check_quiesced", "forget_worker", "sort_out",      "lost_standby", "answer_all",
                                 "tell_stopped",   "end_watches"};
    std::string out = names[static_cast<int>(a.kind)];
    if (a.worker != 0) out += std::to_string(a.worker);
    if (a.kind == kind::tell_stopped) out += a.why ? "(error)" : "(fine)";
    return out;
  }
  // Returns a device whose worker 1 serves while worker 2 stands by.
  static supervised ready(device_supervisor::limits l = {}) {
    supervised d(l);
    d.on(event::opened);
    d.on(event::worker_ready, 1);
    if (l.standbys != 0) d.on(event::worker_ready, 2);
    return d;
  }
};

}  // namespace troupe::testing_device
