// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What happens to a device between opening and its end. Everything that decides runs on the control loop, which never
// runs anybody else's code: continuations go to the reactor.
#include <algorithm>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/hardware.hpp>

namespace troupe {

error device_core::refusal() const {
  const std::scoped_lock guard(why_lock_);
  return refusal_ ? *refusal_ : error(reaction::stopped, "device", "the device has stopped");
}

void device_core::feed(device_supervisor::event e) {
  for (const device_supervisor::action& a : supervisor_.on(std::move(e), loop_->now())) carry_out(a);
  state_.store(supervisor_.state());
  if (const worker_id next = supervisor_.serving(); next != 0) serving_.store(next);
  if (const auto due = supervisor_.next_tick(); due != armed_tick_) {
    armed_tick_ = due;
    if (due) loop_->at(*due, shared_from_this(), timer::supervision);
  }
}

void device_core::carry_out(const device_supervisor::action& a) {
  using enum device_supervisor::action_kind;
  switch (a.kind) {
    case launch:
      return launch_or_tell(a.worker);
    case serve:
      return serve_or_tell(a.worker);
    case sort_out:
      if (supervisor_.state() != device_state::closing) state_.store(device_state::recovering);
      return this->sort_out(a);
    case lost_standby:
      return emit(event_kind::standby_lost, a.why);
    case accept_new:
      return accept_again();
    case forget_worker:
      return forget(a.worker);
    case refuse_new:
      return refuse_from_now_on(*a.why);
    case cancel_queued:
      return cancel_queued_requests();
    case stop_worker:
      if (worker_link* link = link_of(a.worker)) link->send_stop();
      return;
    case kill_worker:
      if (worker_link* link = link_of(a.worker)) {
        link->ready.store(false);
        link->kill();
      }
      return;
    case answer_all:
      return answer_with_the_end(a);
    case tell_stopped:
      return come_to_the_end(a.why);
  }
}

void device_core::launch_or_tell(worker_id id) {
  const auto ok = launch(id);
  if (ok) return;
  post(*loop_, [self = shared_from_this(), id, why = ok.error()] {
    self->feed({device_supervisor::event_kind::worker_exited, id, why});
  });
}

void device_core::serve_or_tell(worker_id id) {
  worker_link& link = *link_of(id);
  const device_state before = state_.exchange(supervisor_.state());  // first: an answer may come at once
  if (const auto ok = serve(link); !ok) {
    state_.store(before);
    // One that is just ending will tell so itself, which says more.
    if (!link.ends_by(loop_->now() + 100'000'000))
      post(*loop_, [self = shared_from_this(), id, why = ok.error()] {
        self->feed({device_supervisor::event_kind::misbehaved, id, why});
      });
    return;
  }
  emit(event_kind::serving, {}, time_span(std::chrono::nanoseconds(loop_->now() - std::max(fault_ns_, opened_ns_))));
  const answering now(*this);
  ready_.reach({});  // last: those who are told begin to watch from here
}

void device_core::accept_again() {
  (void)start_reactor();  // without one, whoever brings an answer posts its continuations
  {
    const std::scoped_lock guard(why_lock_);
    refusal_.reset();
    death_.reset();
  }
  ready_.reset();
  stopped_.reset();
  // All that was sent has been answered: nothing of it is for the next worker.
  kept_ = 0;
  next_ticket_ = commands_->newest_ticket() + 1;
  opened_ns_ = loop_->now();
  dead_.store(false, std::memory_order_seq_cst);
  refusing_.store(false, std::memory_order_seq_cst);
}

void device_core::refuse_from_now_on(const error& why) {
  {
    const std::scoped_lock guard(why_lock_);
    refusal_ = why;
    refusing_.store(true, std::memory_order_seq_cst);
    if (supervisor_.state() == device_state::closing) {
      state_.store(device_state::closing);
      emit(event_kind::closing);
    }
  }
  drive();         // answers those who wait for room
  wake_waiters();  // and the threads that sleep until there is some
}

void device_core::cancel_queued_requests() {
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot)
    if (ledger_[slot].in_flight.load(std::memory_order_acquire))
      mark_cancelled(slot, ledger_[slot].ticket.load(std::memory_order_relaxed),
                     "the device was closed before this request started", reaction::stopped);
  drive();
}

void device_core::answer_with_the_end(const device_supervisor::action& a) {
  drive_surely();  // what has finished is answered as finished
  std::shared_ptr<fault_record> record;
  if (a.seen_ns != 0) {
    const drive_guard guard(*this);
    const open_requests open = open_up_to(commands_->newest_ticket());
    record = analyse_fault(a, open);
    for (const auto& [ticket, slot] : open) {
      if (ledger_[slot].answered) continue;
      record->last.push_back({{std::string(ledger_[slot].info->label), ticket}, request_fate::lost});
    }
    complete(record);
  }
  {
    const std::scoped_lock guard(why_lock_);
    death_ = record ? record->cause : *a.why;
  }
  memory_->lose(salvage::strict, commands_->newest_ticket(), *death_);
  if (record) publish(record);  // first: whoever has an answer finds it
  dead_.store(true, std::memory_order_seq_cst);
  drive_surely();
}

void device_core::come_to_the_end(const std::optional<error>& why) {
  while (!links_.empty()) forget(links_.back()->id());  // first: those who are told may rely on its end
  state_.store(device_state::stopped);
  closing_.store(false);
  emit(event_kind::stopped, why);
  {
    const answering now(*this);
    if (supervisor_.ended()) news_.end();
    ready_.reach(why ? *why : error(reaction::stopped, "device", "the device was closed"));
    stopped_.reach(why ? result<void>(*why) : result<void>());
  }
  reactor_ends_.store(true, std::memory_order_seq_cst);
  wake_waiters();
  wake_reactor();
}

pending<void> device_core::when_ready() { return ready_.watch(shared_from_this()); }
pending<void> device_core::when_stopped() { return stopped_.watch(shared_from_this()); }

void device_core::on_time(std::uint64_t tag) {
  switch (static_cast<timer>(tag)) {
    case timer::deadlines:
      return cancel_overdue();
    case timer::running:
      return look_at_running();
    case timer::heartbeat:
      return check_heartbeat();
    case timer::quiesced:
      return check_quiesced();
    case timer::quarantined_requests:
      return look_at_quarantine();
    case timer::supervision:
      armed_tick_.reset();
      receive_all();
      if (see_an_end()) return loop_->at(loop_->now(), shared_from_this(), timer::supervision);
      return feed({device_supervisor::event_kind::tick});
  }
}

// With drive_lock_ held, so that every answer has been given.
void device_core::look_whether_drained() noexcept {
  if (ledger_.in_flight() != 0 || downloads_.under_way() || drained_told_.exchange(true)) return;
  auto self = shared_from_this();
  post(*loop_, [self] { self->feed({device_supervisor::event_kind::drained}); });
}

// Answered by what has happened when its turn on the loop has come: a reset may be before it.
pending<void> device_core::close(bool now) {
  if (!opened_) return when_stopped();
  auto self = shared_from_this();
  auto answer = ref<detail::asked<void>>::adopt(new detail::asked<void>(self));
  post(*loop_, [self, now, answer] {
    self->feed({now ? device_supervisor::event_kind::close_now_asked : device_supervisor::event_kind::close_asked});
    {
      const answering now(*self);
      self->stopped_.answer(answer);
      if (self->supervisor_.ended()) self->news_.end();
    }
    if (self->state() != device_state::closing) return;
    self->closing_.store(true, std::memory_order_seq_cst);
    self->wake_reactor();
    self->wake_waiters();
    self->drive();
  });
  return pending<void>(std::move(answer));
}

pending<void> device_core::reset() {
  if (!opened_) return when_ready();
  auto answer = ref<detail::asked<void>>::adopt(new detail::asked<void>(shared_from_this()));
  post(*loop_, [self = shared_from_this(), answer]() mutable {
    self->lift_quarantine();
    self->feed({device_supervisor::event_kind::reset_asked});
    const answering now(*self);
    self->ready_.answer(std::move(answer));
  });
  return pending<void>(std::move(answer));
}

std::string device_core::description() const {
  const std::scoped_lock guard(description_lock_);
  return description_;
}

// How much memory there is, unless the user has said how much to take.
void device_core::learn_memory_limit() {
  const std::uint64_t bytes = protocol::parse_gpu_description(description()).memory_bytes;
  if (workers_allocate_ && options_.memory_limit == 0 && bytes != 0) memory_->set_device_limit(bytes / 256 * 256);
}

std::string device_core::engines() const {
  const std::scoped_lock guard(description_lock_);
  return engines_;
}

}  // namespace troupe
