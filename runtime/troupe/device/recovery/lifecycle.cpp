// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/recovery/lifecycle.hpp>
#include <troupe/device/recovery/recovery.hpp>
#include <troupe/device/waiting/reactor.hpp>
#include <troupe/device/workers/hardware_view.hpp>

namespace troupe {
namespace {

constexpr std::uint64_t timers = 4;                    // smaller tags are timers
constexpr std::int64_t ending_takes_ns = 100'000'000;  // from the end of a worker's sockets to the end of the worker

// A thread cannot be killed, so a worker that is a thread cannot be replaced. A process that was killed ends as soon as
// the kernel has released its memory, which may take seconds on a busy machine.
device_supervisor::limits limits_of(const device_options& o) noexcept {
  const bool process = o.isolation == isolation::process;
  constexpr time_span least_death = time_span::of_seconds(30);
  time_span death = o.close_timeout;
  if (process) death.nanoseconds = std::max(death.nanoseconds, least_death.nanoseconds);
  return {.start = o.start_timeout,
          .stop = o.close_timeout,
          .death = death,
          .standbys = process && o.restarts != 0 ? o.standbys : 0,
          .restarts = o.restarts,
          .window = o.restart_window,
          .restartable = process};
}

}  // namespace

lifecycle::lifecycle(device_board& board, completion& completion, reactor& reactor, worker_pool& workers,
                     recovery& recovery, hardware_view& hardware) noexcept
    : board_(board),
      completion_(completion),
      reactor_(reactor),
      workers_(workers),
      recovery_(recovery),
      hardware_(hardware),
      supervisor_(limits_of(board.options)) {}

void lifecycle::start() {
  opened_ = true;
  down_since_ns_ = board_.loop.now();
  report({device_supervisor::event_kind::opened});
}

void lifecycle::give_up(const error& why) {
  board_.admission.refuse(why);
  board_.events.set_state(device_state::stopped);
  const answering now(board_.to_reactor);
  ready_.reach(now, why);
  stopped_.reach(now, why);
  board_.events.streams().end(now);
}

void lifecycle::report(device_supervisor::event e) {
  e.seen_ns = board_.loop.now();
  board_.loop.post([this, e = std::move(e)] { report_now(e); });
}

void lifecycle::report_now(device_supervisor::event e) {
  if (lost_) return;
  for (const device_supervisor::action& a : supervisor_.on(std::move(e), board_.loop.now())) {
    // Before the state, so that no request is accepted from a caller who has seen that the device closes.
    if (a.kind == device_supervisor::action_kind::refuse_new) board_.admission.refuse(*a.why);
    board_.events.set_state(a.state);  // before the rest, because carrying out the action may answer callers
    carry_out(a);
  }
  board_.events.set_state(supervisor_.state());
  if (const auto due = supervisor_.next_tick(); due != armed_tick_) {
    armed_tick_ = due;
    if (due) board_.loop.at(*due, *this, timer::supervision_due);
  }
}

void lifecycle::carry_out(const device_supervisor::action& a) {
  using enum device_supervisor::action_kind;
  worker_link* const link = workers_.find(a.worker);
  switch (a.kind) {
    case launch:
      return this->launch(a.worker);
    case admit_worker:
      link->ready.store(true);
      return workers_.changed();
    case standby_ready:
      return board_.events.emit(event_kind::standby_ready);
    case serve:
      return this->serve(a.worker);
    case sort_out:
      down_since_ns_ = std::max(down_since_ns_, a.seen_ns);
      return recovery_.sort_out(a);
    case lost_standby:
      return board_.events.emit(event_kind::standby_lost, a.why);
    case accept_new:
      return accept_requests();
    case forget_worker:
      return workers_.forget(a.worker);
    case refuse_new:
      return announce_refusal(a);
    case cancel_queued:
      return completion_.cancel_if([](const ledger_entry&) { return true; },
                                   {"the device was closed before this request started", reaction::stopped});
    case await_drained:
      return this->await_drained();
    case stop_worker:
      if (link != nullptr) link->send_stop();
      return;
    case kill_worker:
      if (link == nullptr) return;
      link->ready.store(false);
      return link->kill();
    case check_quiesced:
      if (link != nullptr && link->is_quiesced()) report({device_supervisor::event_kind::quiesced, a.worker});
      return;
    case answer_all:
      return recovery_.answer_all(a);
    case tell_stopped:
      return announce_stop(a);
    case end_watches:
      return board_.events.streams().end(answering(board_.to_reactor));
  }
}

void lifecycle::launch(worker_id id) {
  using enum device_supervisor::event_kind;
  if (const auto ok = workers_.launch(id); !ok)
    report({ok.error().reaction() == reaction::retry_later ? not_launched : worker_exited, id, ok.error()});
}

void lifecycle::serve(worker_id id) {
  if (const auto ok = recovery_.serve(*workers_.find(id)); !ok)
    return report({device_supervisor::event_kind::cannot_serve, id, ok.error()});
  workers_.changed();
  board_.events.emit(event_kind::serving, {}, time_span(std::chrono::nanoseconds(board_.loop.now() - down_since_ns_)));
  // Last, because callers that are answered here must not find the event in a watch that they create then.
  ready_.reach(answering(board_.to_reactor), {});
}

void lifecycle::accept_requests() {
  // If this fails, threads that complete answers post the continuations.
  (void)reactor_.start(board_.loop.device());
  ready_.reset();
  stopped_.reset();
  recovery_.reset();
  down_since_ns_ = board_.loop.now();
  board_.admission.accept();
}

void lifecycle::announce_refusal(const device_supervisor::action& a) {
  if (a.state == device_state::closing) board_.events.emit(event_kind::closing);
  completion_.drive();           // answers calls of room()
  board_.to_reactor.wake_all();  // wakes threads that are blocked until there is room
  workers_.changed();            // wakes threads that wait for a worker that allocates memory
}

void lifecycle::await_drained() {
  completion_.set_closing(true);
  board_.to_reactor.wake_all();
  completion_.drive();
}

void lifecycle::announce_stop(const device_supervisor::action& a) {
  const std::optional<error>& why = a.why;
  workers_.forget_all();  // before callers learn of it, though a killed process may end a little later
  completion_.set_closing(false);
  board_.events.emit(event_kind::stopped, why);
  {
    const answering now(board_.to_reactor);
    if (a.final) board_.events.streams().end(now);
    ready_.reach(now, why ? *why : error(reaction::stopped, "device", "the device was closed"));
    stopped_.reach(now, why ? result<void>(*why) : result<void>());
  }
  reactor_.end();
}

void lifecycle::on_time(std::uint64_t tag) {
  if (tag % timers == timer::closed) return check_closed(static_cast<worker_id>(tag / timers));
  armed_tick_.reset();
  workers_.receive_all();
  if (workers_.handle_next_exit()) return board_.loop.at(board_.loop.now(), *this, timer::supervision_due);
  report_now({device_supervisor::event_kind::tick});
}

void lifecycle::close(bool now, ref<pending_state<void>> answer) {
  board_.loop.post([this, now, answer = std::move(answer)] {
    report_now({now ? device_supervisor::event_kind::close_now_asked : device_supervisor::event_kind::close_asked});
    stopped_.answer(answering(board_.to_reactor), answer);
  });
}

void lifecycle::close_without_handles() {
  report({device_supervisor::event_kind::close_asked, 0,
          error(reaction::stopped, "device",
                board_.options.name +
                    " was closed because its last handle is gone; keep a handle as long as it is used")});
}

void lifecycle::reset(ref<pending_state<void>> answer) {
  board_.loop.post([this, answer = std::move(answer)]() mutable {
    report_now({device_supervisor::event_kind::reset_asked});
    ready_.answer(answering(board_.to_reactor), std::move(answer));
  });
}

// A worker without its sockets can neither receive messages nor allocate memory. A worker that ends closes them too,
// but its exit status states the cause better; on a GPU its process may take long to end. A worker that was asked to
// stop has a time limit of its own.
void lifecycle::check_closed(worker_id id) {
  const worker_link* const link = workers_.find(id);
  const device_state now = supervisor_.state();
  if (link == nullptr || link->is_quiesced() || now == device_state::closing || now == device_state::stopped) return;
  report_now({device_supervisor::event_kind::misbehaved, id,
              error(reaction::context_lost, "device", "the worker closed its connection without ending"),
              fault_kind::misbehaved});
}

void lifecycle::handle_end(std::uint32_t id, const exit_status& how,
                           const std::optional<worker_link::message>& failure) {
  if (failure)
    report_now({device_supervisor::event_kind::worker_failed, id, error(failure->how, "device", failure->text)});
  if (id == supervisor_.serving()) board_.worker.note_exit(how);
  report_now({device_supervisor::event_kind::worker_exited, id,
              error(error::details{.reaction = reaction::context_lost,
                                   .domain = "device",
                                   .code = how.value,
                                   .text = "the worker of " + board_.options.name + " ended: " + how.text() +
                                           "; what it held is lost"})});
}

// The descriptors' numbers may belong to other files of the program by now, so nothing is closed and nothing is sent.
// Workers end by themselves, because their sockets are closed.
void lifecycle::handle_lost_descriptors(const error& why) {
  if (std::exchange(lost_, true)) return;
  workers_.abandon();
  board_.admission.abandon(why);
  board_.events.set_state(device_state::stopped);
  recovery_.answer_all_and_keep_memory(why);
  announce_stop({.kind = device_supervisor::action_kind::tell_stopped, .why = why, .final = true});
}

void lifecycle::handle_message(worker_link& link, const worker_link::message& n) {
  const worker_id id = link.id();
  switch (n.kind) {
    case worker_link::message::kind::none:
      return;
    case worker_link::message::kind::ready:
      hardware_.note(n.text);
      return report_now({device_supervisor::event_kind::worker_ready, id});
    case worker_link::message::kind::pong:
      if (id == board_.worker.id()) board_.worker.note_heartbeat();
      return;
    case worker_link::message::kind::restarted:
      return board_.events.emit(
          event_kind::library_restarted,
          error(reaction::retry_later, "device",
                "the engine of " + n.text + " reported that its library's handle is broken; it was opened again"));
    case worker_link::message::kind::remark:
      return board_.events.log(log_level::warning, n.text);
    case worker_link::message::kind::loaded:
      return workers_.warm_up_standbys(n.text);
    case worker_link::message::kind::failed:
      report_now({device_supervisor::event_kind::worker_failed, id, error(n.how, "device", n.text)});
      // The channel shows the operations of the serving worker, and only a GPU continues them after the worker's
      // threads have ended.
      if (!board_.gpu || n.how != reaction::context_lost || id != board_.worker.id()) return;
      if (const auto copies = recovery_.writes_on_for())
        report_now({.kind = device_supervisor::event_kind::work_ended, .worker = id, .copies = *copies});
      return;
    case worker_link::message::kind::violated:
      return report_now(
          {device_supervisor::event_kind::misbehaved, id, error(n.how, "device", n.text), fault_kind::misbehaved});
    case worker_link::message::kind::gone:
      // The end of a process is detected by its exit status; for a thread, this message is the only sign.
      if (board_.options.isolation == isolation::thread)
        return report_now(
            {device_supervisor::event_kind::worker_exited, id,
             error(reaction::context_lost, "device", "the worker thread of " + board_.options.name + " has ended")});
      return board_.loop.at(board_.loop.now() + ending_takes_ns, *this, timer::closed + timers * id);
  }
}

}  // namespace troupe
