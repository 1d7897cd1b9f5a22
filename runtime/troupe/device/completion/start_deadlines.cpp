// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/mailbox/deadline_texts.hpp>

namespace troupe {

start_deadlines::start_deadlines(device_board& board, completion& completion) noexcept
    : board_(board), completion_(completion), timer_(board.loop, *this) {}

bool start_deadlines::has_passed(const ledger_entry& e) const noexcept {
  return e.start_deadline_ns.load(std::memory_order_relaxed) <= board_.loop.now();
}

void start_deadlines::on_time(std::uint64_t) {
  timer_.fired();
  std::int64_t next = cancel_overdue();
  if (board_.cancelled.any()) completion_.drive();
  next = std::min(next, board_.room.answers().fail_overdue(answering(board_.to_reactor), board_.loop.now()));
  if (board_.room.has_answers()) completion_.drive();  // there may be room for the calls after them
  if (next != no_deadline) watch(next);
}

// Returns the earliest deadline of the requests that still wait to start. A started request has met its deadline unless
// its worker dies; `look_again` handles that case.
std::int64_t start_deadlines::cancel_overdue() {
  std::int64_t next = no_deadline;
  const completion::lock guard(completion_);  // held, because otherwise another request might get the slot meanwhile
  for (std::uint32_t slot = 0; slot < board_.requests.capacity(); ++slot) {
    const ledger_entry& e = board_.requests[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
    const std::int64_t deadline = e.start_deadline_ns.load(std::memory_order_relaxed);
    if (deadline == no_deadline) continue;
    if (const std::uint64_t word = board_.channel->slot(slot).load(std::memory_order_acquire);
        protocol::ticket_of(word) >= ticket) {
      if (is_impossible_word(board_.requests, word, slot, ticket))
        completion_.report_violation("the state of a request");
    } else if (deadline > board_.loop.now()) {
      next = std::min(next, deadline);
    } else {
      board_.cancelled.mark(slot, ticket, {deadline_texts::before_start, reaction::retry_later, ETIMEDOUT});
    }
  }
  return next;
}

}  // namespace troupe
