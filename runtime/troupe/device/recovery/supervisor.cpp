// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/core/duration_text.hpp>
#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {
namespace {

using kind = device_supervisor::action_kind;

constexpr std::int64_t unable_grace_ns = 100'000'000;
constexpr std::int64_t quiesced_poll_ns = 200'000;
constexpr std::int64_t first_pause_ns = 100'000'000, longest_pause_ns = 10'000'000'000,
                       longest_pause_of_shortage_ns = 400'000'000;
constexpr std::int64_t longest_hold_ns = 1'000'000'000;  // usually 0.05 to 0.3 s suffice

error stopped_because(const error& why) {
  return error(error::details{.reaction = reaction::stopped,
                              .domain = "device",
                              .code = why.code(),
                              .text = "the device has stopped: " + why.text() + "; reset() it, or open another"});
}

}  // namespace

device_supervisor::worker* device_supervisor::find(worker_id id) noexcept {
  const auto at = std::find_if(workers_.begin(), workers_.end(), [id](const worker& w) { return w.id == id; });
  return at == workers_.end() ? nullptr : &*at;
}

std::optional<std::int64_t> device_supervisor::next_tick() const noexcept {
  std::int64_t next = std::min(launch_at_, close_due_);
  for (const worker& w : workers_) next = std::min({next, w.due, w.holds_until, w.handover});
  return next == never ? std::nullopt : std::optional(next);
}

device_supervisor::worker_id device_supervisor::launch(actions& out, std::int64_t now) {
  workers_.push_back({.id = ++last_, .due = limits_.start.after(now)});
  add(out, {kind::launch, last_});
  return last_;
}

void device_supervisor::launch_first(actions& out, std::int64_t now) {
  lack_until_ = limits_.start.after(now);
  serving_ = launch(out, now);
}

void device_supervisor::add(actions& out, action a) const {
  a.state = state_;
  out.push_back(std::move(a));
}

void device_supervisor::serve(actions& out, worker& w) {
  serving_ = w.id;
  if (state_ != device_state::closing) state_ = device_state::ready;
  add(out, {kind::serve, w.id});
}

void device_supervisor::kill(actions& out, worker& w, std::int64_t now) {
  w.killed = true;
  w.due = limits_.death.after(now);
  w.holds_until = now + longest_hold_ns;
  add(out, {kind::kill_worker, w.id});
}

// Handles a worker that cannot continue but has not ended.
void device_supervisor::fail(actions& out, worker& w, fault f, std::int64_t now) {
  if (w.killed) return;
  const bool serves = w.id == serving_;
  if (serves && (state_ == device_state::starting || !limits_.restartable)) return give_up(out, std::move(f), now);
  if (serves) {
    fault_ = std::move(f);
  } else {
    schedule_launch(now);
    add(out, {kind::lost_standby, w.id, std::move(f.why)});
  }
  kill(out, w, now);
}

void device_supervisor::gone(actions& out, worker_id id, fault f, std::int64_t now) {
  const worker* w = find(id);
  if (w == nullptr) return;
  const bool expected = w->stopping || w->killed;
  std::erase_if(workers_, [id](const worker& o) { return o.id == id; });
  add(out, {kind::forget_worker, id});
  if (id != serving_) {  // a standby
    if (!expected) {
      schedule_launch(now);
      add(out, {kind::lost_standby, id, std::move(f.why)});
    }
  } else if (drained_) {
    serving_ = 0;  // no request was left
  } else if (state_ == device_state::starting || !limits_.restartable) {
    give_up(out, fault_ ? std::move(*fault_) : std::move(f), now);
  } else {
    recover(out, fault_ ? std::move(*fault_) : std::move(f), now);
  }
  if (drained_ && workers_.empty()) finish(out);
}

// Replaces the serving worker, which has ended, or the next one, which could not be started because a resource was
// short. A shortage ends by itself: it does not count as a restart, but start_timeout limits its duration.
void device_supervisor::recover(actions& out, fault f, std::int64_t now) {
  fault_.reset();
  serving_ = 0;
  if (f.lack && !closing_now_) {
    if (now < lack_until_) return serve_next(out, true, now);
    error::details d = f.why.all();
    d.text = "no worker could be started for " + duration_text(limits_.start.nanoseconds) +
             " (device_options::start_timeout); the last cause: " + f.why.text();
    f.why = error(std::move(d));
    return give_up(out, std::move(f), now);
  }
  const bool tolerated = restarts_.admit(now);
  if (closing_now_ || limits_.restarts == 0) return give_up(out, std::move(f), now);
  if (!tolerated) {
    error::details d = f.why.all();
    d.text = "the worker had to be restarted more than " +
             (limits_.restarts == 1 ? "once" : cat(limits_.restarts, " times")) +
             (limits_.window.unlimited() ? "" : " within " + duration_text(limits_.window.nanoseconds)) +
             "; the last cause: " + f.why.text();
    f.why = error(std::move(d));
    return give_up(out, std::move(f), now);
  }
  if (state_ != device_state::closing) state_ = device_state::recovering;
  lack_until_ = limits_.start.after(now);
  add(out, {kind::sort_out, 0, std::move(f.why), f.how, f.seen_ns});
  serve_next(out, false, now);
}

// Replaces a killed worker before its process has ended, if it is time: when none of its threads is left, and the
// copies that the GPU still makes for it must be complete. The driver ends a worker's work on a GPU long before its
// process ends, and the later end of the process does not affect the device.
void device_supervisor::hand_over(actions& out, worker& w, std::int64_t now) {
  if (w.handover > now) return;
  if (!w.quiesced) {
    w.handover = now + quiesced_poll_ns;
    return add(out, {kind::check_quiesced, w.id});
  }
  w.handover = never;
  if (w.id == serving_ && fault_ && !drained_) recover(out, fault(std::move(*fault_)), now);
}

// Makes a worker serve that is ready, or will be. If there is none, launches one, at once or after a pause.
void device_supervisor::serve_next(actions& out, bool lacked, std::int64_t now) {
  const auto next = std::find_if(workers_.begin(), workers_.end(),
                                 [](const worker& w) { return w.ready && !w.stopping && !w.killed; });
  if (next != workers_.end()) return serve(out, *next);
  const auto coming =
      std::find_if(workers_.begin(), workers_.end(), [](const worker& w) { return !w.stopping && !w.killed; });
  if (coming != workers_.end()) {
    serving_ = coming->id;
  } else if (lacked) {
    schedule_launch(now);
    // Requests wait, and the shortage may end at any time.
    launch_at_ = std::min({launch_at_, now + longest_pause_of_shortage_ns, lack_until_});
  } else {
    // Begin with the shortest pause again, however often standbys have failed, because a worker must serve soon. The
    // limit on restarts bounds how often this happens.
    launch_at_ = never;
    pause_ = 0;
    if (restarts_.recent() < 2)
      serving_ = launch(out, now);
    else
      schedule_launch(now);
  }
}

// Schedules the launch of another worker after a pause that grows with each worker that failed in a row.
void device_supervisor::schedule_launch(std::int64_t now) noexcept {
  if (launch_at_ != never) return;
  pause_ = pause_ == 0 ? first_pause_ns : std::min(2 * pause_, longest_pause_ns);
  launch_at_ = now + pause_;
}

// Launches standbys up to the limit, one at a time, and usually not while a killed worker ends: the GPU's driver is
// then busy freeing that worker's resources, and would stand still for longer if a new worker asked for some.
void device_supervisor::launch_standby(actions& out, std::int64_t now) {
  if (state_ != device_state::ready || fault_ || launch_at_ != never) return;
  if (std::any_of(workers_.begin(), workers_.end(), [](const worker& w) { return w.holds_until != never; })) return;
  const auto usable =
      std::count_if(workers_.begin(), workers_.end(), [](const worker& w) { return !w.stopping && !w.killed; });
  const bool one_is_coming = std::any_of(workers_.begin(), workers_.end(),
                                         [](const worker& w) { return !w.ready && !w.stopping && !w.killed; });
  if (!one_is_coming && usable < 1 + static_cast<std::ptrdiff_t>(limits_.standbys)) launch(out, now);
}

error device_supervisor::closed() const {
  return why_closed_ ? *why_closed_ : error(reaction::stopped, "device", "the device was closed; open another");
}

void device_supervisor::give_up(actions& out, fault f, std::int64_t now, bool final) {
  const bool closing = state_ == device_state::closing;
  serving_ = 0;
  fault_.reset();
  launch_at_ = close_due_ = never;
  for (worker& w : workers_)
    if (!w.killed) kill(out, w, now);
  workers_.clear();  // tell_stopped releases the workers
  add(out, {kind::refuse_new, 0, closing ? closed() : stopped_because(f.why)});
  add(out, {kind::answer_all, 0, f.why, f.how, f.seen_ns});
  state_ = device_state::stopped;
  ended_ = closing || final;
  add(out, {.kind = kind::tell_stopped, .why = std::move(f.why), .final = ended_});
}

void device_supervisor::finish(actions& out) {
  ended_ = true;
  close_due_ = never;
  add(out, {kind::answer_all, 0, closed()});
  state_ = device_state::stopped;
  add(out, {.kind = kind::tell_stopped, .final = true});
}

void device_supervisor::stop_workers(actions& out, std::int64_t now) {
  for (worker& w : workers_) {
    if (w.stopping || w.killed) continue;
    w.stopping = true;
    w.due = limits_.stop.after(now);
    add(out, {kind::stop_worker, w.id});
  }
  launch_at_ = never;
}

void device_supervisor::close(actions& out, bool at_once, std::int64_t now, std::optional<error> why) {
  if (ended_) return;
  if (state_ == device_state::stopped) {  // the device has given up
    ended_ = true;
    return add(out, {kind::end_watches});
  }
  const bool begins = state_ != device_state::closing, cancels = at_once && !closing_now_;
  if (begins) {
    state_ = device_state::closing;
    why_closed_ = std::move(why);
    add(out, {kind::refuse_new, 0, closed()});
  }
  if (cancels) {
    closing_now_ = true;
    add(out, {kind::cancel_queued, 0, closed()});
    if (!drained_) close_due_ = limits_.stop.after(now);
  }
  if (begins || cancels) add(out, {kind::await_drained});
}

void device_supervisor::check_timeouts(actions& out, std::int64_t now) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    hand_over(out, workers_[i], now);
    if (state_ == device_state::stopped) return;
    worker& w = workers_[i];
    if (w.holds_until <= now) w.holds_until = never;
    if (w.due > now) continue;
    const worker_id id = w.id;
    if (!w.stopping && !w.killed) {
      fault late{
          error(reaction::stopped, "device", "the worker did not become ready in time (device_options::start_timeout)"),
          fault_kind::late, now};
      fail(out, w, w.unable ? std::move(*w.unable) : std::move(late), now);
      if (state_ == device_state::stopped) return;
    } else if (!w.killed) {
      kill(out, w, now);  // it was asked to end and had no work left, so nothing is lost
    } else {
      std::erase_if(workers_, [id](const worker& o) { return o.id == id; });
      add(out, {kind::forget_worker, id});
      --i;
      if (id != serving_) continue;
      // The worker may still write to the device's memory, so no other worker may use that memory.
      give_up(out,
              {error(reaction::fatal, "device",
                     "the worker cannot be ended: it is a thread that does not return, or a process the kernel holds"),
               fault_kind::silent, now},
              now, true);
      return;
    }
  }
  if (drained_ && workers_.empty() && !ended_) return finish(out);
  if (close_due_ <= now)
    return give_up(
        out,
        {error(reaction::context_lost, "device", "the device was closed with close_now() before this request finished"),
         fault_kind::overran, 0},
        now);
  if (launch_at_ > now) return;
  launch_at_ = never;
  // Otherwise the worker is a standby, or no more workers are needed.
  if (serving_ == 0 && !drained_ && !ended_) serving_ = launch(out, now);
}

std::vector<device_supervisor::action> device_supervisor::on(event e, std::int64_t now) {
  actions out;
  worker* const w = find(e.worker);
  const std::int64_t seen = e.seen_ns != 0 ? e.seen_ns : now;
  switch (e.kind) {
    case event_kind::opened:
      launch_first(out, now);
      break;
    case event_kind::worker_ready:
      if (w == nullptr || w->ready || w->stopping || w->killed) break;
      w->ready = true;
      w->due = never;
      pause_ = 0;
      add(out, {kind::admit_worker, w->id});
      if (w->id == serving_ || serving_ == 0)
        serve(out, *w);
      else
        add(out, {kind::standby_ready, w->id});
      break;
    case event_kind::cannot_serve:
      // A worker that is ending reports the cause itself, and better.
      if (w == nullptr || w->stopping || w->killed) break;
      w->unable = fault{std::move(*e.why), e.how, seen};
      w->due = now + unable_grace_ns;
      break;
    case event_kind::worker_failed: {
      if (w == nullptr || state_ == device_state::stopped) break;
      const bool lack = !w->ready && e.why->reaction() == reaction::retry_later;
      fail(out, *w, {std::move(*e.why), fault_kind::gave_up, seen, lack}, now);
      break;
    }
    case event_kind::misbehaved:
      if (w != nullptr && state_ != device_state::stopped) fail(out, *w, {std::move(*e.why), e.how, seen}, now);
      break;
    case event_kind::worker_exited:
    case event_kind::not_launched: {
      const bool lack = e.kind == event_kind::not_launched && w != nullptr && !w->ready;
      gone(out, e.worker, {std::move(*e.why), fault_kind::ended, seen, lack}, now);
      break;
    }
    case event_kind::work_ended:
      // Kernels that nobody has ended may write, until the process has ended, to memory that another worker would use.
      if (w == nullptr || !w->killed || w->id != serving_ || !fault_ || w->copies) break;
      w->copies = e.copies;
      w->handover = now;
      hand_over(out, *w, now);
      break;
    case event_kind::quiesced:
      if (w == nullptr || !w->copies || w->quiesced) break;
      w->quiesced = true;
      w->handover = w->copies->after(seen);
      hand_over(out, *w, now);
      break;
    case event_kind::close_asked:
    case event_kind::close_now_asked:
      close(out, e.kind == event_kind::close_now_asked, now, std::move(e.why));
      break;
    case event_kind::reset_asked:
      if (state_ != device_state::stopped || ended_) break;
      state_ = device_state::recovering;
      restarts_.forget();
      pause_ = 0;
      add(out, {kind::accept_new});
      launch_first(out, now);
      break;
    case event_kind::drained:
      if (state_ != device_state::closing || drained_) break;
      drained_ = true;
      close_due_ = never;
      stop_workers(out, now);
      if (workers_.empty()) finish(out);
      break;
    case event_kind::tick:
      check_timeouts(out, now);
      break;
  }
  launch_standby(out, now);
  return out;
}

}  // namespace troupe
