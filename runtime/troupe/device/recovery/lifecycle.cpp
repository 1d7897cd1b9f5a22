// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/recovery/fault_reporter.hpp>
#include <troupe/device/recovery/lifecycle.hpp>
#include <troupe/device/recovery/quarantine_guard.hpp>
#include <troupe/device/recovery/recovery.hpp>
#include <troupe/device/waiting/device_events.hpp>
#include <troupe/device/waiting/reactor.hpp>
#include <troupe/device/workers/hardware_view.hpp>

namespace troupe {
namespace {

constexpr std::uint64_t timers = 4;                    // tags below this are timers
constexpr std::int64_t ending_takes_ns = 100'000'000;  // from the end of a worker's sockets to its own

// A thread cannot be killed, so a worker that is a thread cannot be replaced.
device_supervisor::limits limits_of(const device_options& o) noexcept {
  const bool process = o.isolation == isolation::process;
  return {.start = o.start_timeout,
          .stop = o.close_timeout,
          .standbys = process && o.restarts != 0 ? o.standbys : 0,
          .restarts = o.restarts,
          .window = o.restart_window,
          .restartable = process};
}

}  // namespace

lifecycle::lifecycle(const device_options& options, const device_loop& loop, admission& admission,
                     request_mailbox& mailbox, completion& completion, reactor& reactor, serving_worker& worker,
                     worker_pool& workers, recovery& recovery, fault_reporter& faults, quarantine_guard& quarantine,
                     hardware_view& hardware, device_events& events, bool gpu) noexcept
    : options_(options),
      loop_(loop),
      admission_(admission),
      mailbox_(mailbox),
      completion_(completion),
      reactor_(reactor),
      worker_(worker),
      workers_(workers),
      recovery_(recovery),
      faults_(faults),
      quarantine_(quarantine),
      hardware_(hardware),
      events_(events),
      gpu_(gpu),
      supervisor_(limits_of(options)) {}

void lifecycle::start() {
  opened_ = true;
  opened_ns_ = loop_.now();
  report({device_supervisor::event_kind::opened});
}

void lifecycle::give_up(const error& why) {
  admission_.refuse(why);
  events_.set_state(device_state::stopped);
  ready_.reach(why);
  stopped_.reach(why);
  events_.streams().end();
}

void lifecycle::report(device_supervisor::event e) {
  e.seen_ns = loop_.now();
  loop_.post([this, e = std::move(e)] { report_now(e); });
}

void lifecycle::report_now(device_supervisor::event e) {
  if (lost_) return;
  for (const device_supervisor::action& a : supervisor_.on(std::move(e), loop_.now())) {
    events_.set_state(a.state);  // first, because carrying it out may answer callers
    carry_out(a);
  }
  events_.set_state(supervisor_.state());
  if (const auto due = supervisor_.next_tick(); due != armed_tick_) {
    armed_tick_ = due;
    if (due) loop_.at(*due, *this, timer::supervision_due);
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
      return events_.emit(event_kind::standby_ready);
    case serve:
      return this->serve(a.worker);
    case sort_out:
      return recovery_.sort_out(a);
    case lost_standby:
      return events_.emit(event_kind::standby_lost, a.why);
    case accept_new:
      return accept_requests();
    case forget_worker:
      return workers_.forget(a.worker);
    case refuse_new:
      return refuse_requests(a);
    case cancel_queued:
      return mailbox_.cancel_queued();
    case await_drained:
      return this->await_drained();
    case stop_worker:
      if (link != nullptr) link->send_stop();
      return;
    case kill_worker:
      if (link == nullptr) return;
      link->ready.store(false);
      return link->kill();
    case answer_all:
      return recovery_.answer_all(a);
    case tell_stopped:
      return announce_stop(a);
    case end_watches: {
      const reactor::answering now(reactor_);
      return events_.streams().end();
    }
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
  const std::int64_t since = std::max(faults_.seen_ns(), opened_ns_);
  events_.emit(event_kind::serving, {}, time_span(std::chrono::nanoseconds(loop_.now() - since)));
  const reactor::answering now(reactor_);
  ready_.reach({});  // last: callers that it answers must not see the event again in a watch that they open then
}

void lifecycle::accept_requests() {
  // If this fails, threads that complete answers post the continuations.
  (void)reactor_.start(loop_.device());
  ready_.reset();
  stopped_.reset();
  recovery_.reset();
  opened_ns_ = loop_.now();
  admission_.accept();
}

void lifecycle::refuse_requests(const device_supervisor::action& a) {
  admission_.refuse(*a.why);
  if (a.state == device_state::closing) events_.emit(event_kind::closing);
  completion_.drive();  // answers calls of room()
  reactor_.wake_all();  // wakes threads that are blocked until there is room
  workers_.changed();   // wakes threads that wait for a worker to make memory
}

void lifecycle::await_drained() {
  completion_.set_closing(true);
  reactor_.wake_all();
  completion_.drive();
}

void lifecycle::announce_stop(const device_supervisor::action& a) {
  const std::optional<error>& why = a.why;
  workers_.forget_all();  // before callers learn of it, though a killed process may end a little later
  completion_.set_closing(false);
  events_.emit(event_kind::stopped, why);
  {
    const reactor::answering now(reactor_);
    if (a.final) events_.streams().end();
    ready_.reach(why ? *why : error(reaction::stopped, "device", "the device was closed"));
    stopped_.reach(why ? result<void>(*why) : result<void>());
  }
  reactor_.end();
}

void lifecycle::on_time(std::uint64_t tag) {
  if (tag == timer::quiesced) return check_quiesced();
  if (tag % timers == timer::closed) return check_closed(static_cast<worker_id>(tag / timers));
  armed_tick_.reset();
  workers_.receive_all();
  if (workers_.handle_next_exit()) return loop_.at(loop_.now(), *this, timer::supervision_due);
  report_now({device_supervisor::event_kind::tick});
}

void lifecycle::close(bool now, ref<pending_state<void>> answer) {
  loop_.post([this, now, answer = std::move(answer)] {
    report_now({now ? device_supervisor::event_kind::close_now_asked : device_supervisor::event_kind::close_asked});
    const reactor::answering later(reactor_);
    stopped_.answer(answer);
  });
}

void lifecycle::close_without_handles() {
  report({device_supervisor::event_kind::close_asked, 0,
          error(reaction::stopped, "device",
                options_.name + " was closed because its last handle is gone; keep a handle as long as it is used")});
}

void lifecycle::reset(ref<pending_state<void>> answer) {
  loop_.post([this, answer = std::move(answer)]() mutable {
    quarantine_.lift();
    report_now({device_supervisor::event_kind::reset_asked});
    const reactor::answering later(reactor_);
    ready_.answer(std::move(answer));
  });
}

// Checks if a killed worker of a GPU has no work left: the driver ends its work on the device long before the process
// is gone.
void lifecycle::check_quiesced() {
  const worker_id id = handover_.worker();
  worker_link* const link = workers_.find(id);
  if (link == nullptr || id != supervisor_.serving()) return;  // the process is gone, or another worker serves
  if (const auto again = handover_.look_again_at(link->is_quiesced(), loop_.now()))
    return loop_.at(*again, *this, timer::quiesced);
  report_now({device_supervisor::event_kind::quiesced, id});
}

// A worker without its sockets can neither receive messages nor make memory. One that ends closes them, too, and how it
// ended is the better cause; on a GPU, its process may take long to go. One that was asked to stop has its own time.
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
  if (id == supervisor_.serving()) worker_.note_exit(how);
  report_now({device_supervisor::event_kind::worker_exited, id,
              error(error::details{
                  .reaction = reaction::context_lost,
                  .domain = "device",
                  .code = how.value,
                  .text = "the worker of " + options_.name + " ended: " + how.text() + "; what it held is lost"})});
}

// The numbers may be other files of the program by now, so nothing is closed and nothing is sent: workers end by
// themselves, because their sockets are closed.
void lifecycle::handle_lost_descriptors(const error& why) {
  if (std::exchange(lost_, true)) return;
  workers_.abandon();
  admission_.abandon(why);
  events_.set_state(device_state::stopped);
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
      if (id == worker_.id()) worker_.note_heartbeat();
      return;
    case worker_link::message::kind::restarted:
      return events_.emit(
          event_kind::library_restarted,
          error(reaction::retry_later, "device",
                "the engine of " + n.text + " reported that its library's handle is broken; it was opened again"));
    case worker_link::message::kind::remark:
      return events_.log(log_level::warning, n.text);
    case worker_link::message::kind::loaded:
      return workers_.warm_up_standbys(n.text);
    case worker_link::message::kind::failed:
      report_now({device_supervisor::event_kind::worker_failed, id, error(n.how, "device", n.text)});
      // Where the GPU has ended the worker's kernels already, its process takes much longer to end. Kernels that nobody
      // has ended may write, until it is gone, into memory that another worker would use.
      if (!gpu_ || n.how != reaction::context_lost || id != supervisor_.serving()) return;
      if (const auto go_on = recovery_.writes_on_for()) {
        handover_.begin(id, *go_on);
        check_quiesced();
      }
      return;
    case worker_link::message::kind::violated:
      return report_now(
          {device_supervisor::event_kind::misbehaved, id, error(n.how, "device", n.text), fault_kind::misbehaved});
    case worker_link::message::kind::gone:
      // The end of a process is seen by its exit status; for a thread, this message is the only sign.
      if (options_.isolation == isolation::thread)
        return report_now(
            {device_supervisor::event_kind::worker_exited, id,
             error(reaction::context_lost, "device", "the worker thread of " + options_.name + " has ended")});
      return loop_.at(loop_.now() + ending_takes_ns, *this, timer::closed + timers * id);
  }
}

}  // namespace troupe
