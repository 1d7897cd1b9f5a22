// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/internal/supervisor.hpp>

namespace troupe {
namespace {

using action = device_supervisor::action;
using kind = device_supervisor::action_kind;

error closed() { return error(reaction::stopped, "device", "the device was closed; open another"); }

}  // namespace

std::string_view to_string(device_state s) noexcept {
  switch (s) {
    case device_state::starting:
      return "starting";
    case device_state::ready:
      return "ready";
    case device_state::closing:
      return "closing";
    case device_state::stopped:
      return "stopped";
  }
  return "unknown";
}

void device_supervisor::stop(std::vector<action>& out, error why, bool kill) {
  state_ = device_state::stopped;
  deadline_.reset();
  if (kill && worker_alive_) out.push_back({kind::kill_worker});
  out.push_back(
      {kind::refuse_new, error(error::details{.reaction = reaction::stopped,
                                              .domain = "device",
                                              .code = why.code(),
                                              .text = "the device has stopped: " + why.text() + "; open another"})});
  out.push_back({kind::answer_all, why});
  out.push_back({kind::tell_stopped, std::move(why)});
}

std::vector<action> device_supervisor::on(event e, std::int64_t now_ns) {
  std::vector<action> out;
  if (e.kind == event_kind::worker_exited) worker_alive_ = false;
  if (state_ == device_state::stopped) return out;
  switch (e.kind) {
    case event_kind::opened:
      worker_alive_ = true;
      deadline_ = limits_.start.after(now_ns);
      out.push_back({kind::launch});
      break;
    case event_kind::worker_ready:
      if (worker_ready_) break;
      worker_ready_ = true;
      if (!closing_now_ && !stop_sent_) deadline_.reset();
      if (state_ != device_state::starting) break;
      state_ = device_state::ready;
      out.push_back({kind::tell_ready});
      break;
    case event_kind::worker_failed:
    case event_kind::misbehaved:
      stop(out, *e.why, true);
      break;
    case event_kind::worker_exited:
      if (state_ == device_state::closing && stop_sent_) {
        state_ = device_state::stopped;
        deadline_.reset();
        out.push_back({kind::answer_all, closed()});
        out.push_back({kind::tell_stopped});
      } else {
        stop(out, *e.why, false);
      }
      break;
    case event_kind::close_asked:
    case event_kind::close_now_asked:
      if (state_ != device_state::closing) {
        state_ = device_state::closing;
        out.push_back({kind::refuse_new, closed()});
      }
      if (e.kind == event_kind::close_now_asked && !closing_now_) {
        closing_now_ = true;
        out.push_back({kind::cancel_queued, closed()});
        if (!stop_sent_) deadline_ = limits_.stop.after(now_ns);
      }
      break;
    case event_kind::drained:
      if (state_ != device_state::closing || stop_sent_) break;
      stop_sent_ = true;
      deadline_ = limits_.stop.after(now_ns);
      out.push_back({kind::stop_worker});
      break;
    case event_kind::tick:
      if (!deadline_ || now_ns < *deadline_) break;
      if (!worker_ready_ && !closing_now_ && !stop_sent_) {
        stop(out, error(reaction::stopped, "device", "the worker did not become ready in time"), true);
      } else if (stop_sent_ && !kill_sent_) {
        // It was told to end and had nothing left to do: nothing is lost by ending it.
        kill_sent_ = true;
        deadline_ = limits_.stop.after(now_ns);
        out.push_back({kind::kill_worker});
      } else if (kill_sent_) {
        stop(out,
             error(reaction::fatal, "device",
                   "the worker cannot be ended: it is a thread that does not return, or a process the kernel holds"),
             false);
      } else {
        stop(out,
             error(reaction::context_lost, "device", "the device was closed at once, before this request was finished"),
             true);
      }
      break;
  }
  return out;
}

}  // namespace troupe
