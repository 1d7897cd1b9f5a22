// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/mailbox/deadline_texts.hpp>
#include <troupe/device/mailbox/mailbox_room.hpp>
#include <troupe/device/waiting/reactor.hpp>

namespace troupe {

start_deadlines::start_deadlines(const device_loop& loop, shared_channel& channel, ledger& requests,
                                 cancellations& cancelled, completion& completion, mailbox_room& room,
                                 reactor& reactor) noexcept
    : loop_(loop),
      channel_(channel),
      requests_(requests),
      cancelled_(cancelled),
      completion_(completion),
      room_(room),
      reactor_(reactor),
      timer_(loop, *this) {}

bool start_deadlines::has_passed(const ledger_entry& e) const noexcept {
  return e.start_deadline_ns.load(std::memory_order_relaxed) <= loop_.now();
}

void start_deadlines::on_time(std::uint64_t) {
  timer_.fired();
  std::int64_t next = cancel_overdue();
  if (cancelled_.any()) completion_.drive();
  {
    const reactor::answering now(reactor_);
    next = std::min(next, room_.answers().fail_overdue(loop_.now()));
  }
  if (room_.has_answers()) completion_.drive();  // there may be room for those behind them
  if (next != no_deadline) watch(next);
}

// Returns the earliest deadline among the requests that still wait to start. A started request has met its deadline
// unless its worker dies; `look_again` handles that case.
std::int64_t start_deadlines::cancel_overdue() {
  std::int64_t next = no_deadline;
  const completion::lock guard(completion_);  // or another request might get a slot meanwhile
  for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot) {
    const ledger_entry& e = requests_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
    const std::int64_t deadline = e.start_deadline_ns.load(std::memory_order_relaxed);
    if (deadline == no_deadline) continue;
    if (const std::uint64_t word = channel_->slot(slot).load(std::memory_order_acquire);
        protocol::ticket_of(word) >= ticket) {
      if (is_impossible_word(requests_, word, slot, ticket)) completion_.report_violation("the state of a request");
    } else if (deadline > loop_.now()) {
      next = std::min(next, deadline);
    } else {
      cancelled_.mark(slot, ticket, {deadline_texts::before_start, reaction::retry_later, ETIMEDOUT});
    }
  }
  return next;
}

}  // namespace troupe
