// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Decides what happens to each open request when a worker dies, and passes the remaining ones to the next worker.
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/completion/stale_outputs.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/recovery/fault_reporter.hpp>
#include <troupe/device/recovery/recovery.hpp>
#include <troupe/device/workers/shared_segments.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {
namespace {

error lost_with(const error& why, request_id lost, std::uint64_t generation) {
  error::details d = why.all();
  d.request = std::move(lost);
  d.generation = generation;
  return error(std::move(d));
}

// Adds a request to the record. Of many requests only the first are named, because making a name takes time; the rest
// are counted.
void add_request(fault_record& to, const shared_channel& channel, const ledger_entry& e, std::uint32_t slot,
                 request_fate fate) {
  const bool listed = to.last.size() < most_listed_requests;
  to.last.push_back({listed ? id_of(channel, e, slot) : request_id(), fate});
}

}  // namespace

recovery::recovery(device_board& board, completion& completion, start_deadlines& deadlines, worker_pool& workers,
                   shared_segments& segments, fault_reporter& faults) noexcept
    : board_(board),
      completion_(completion),
      start_deadlines_(deadlines),
      workers_(workers),
      segments_(segments),
      faults_(faults) {}

void recovery::sort_out(const device_supervisor::action& death) {
  completion::lock answers(completion_);
  answers.collect();
  const bool lied = !board_.worker.violate();  // from here on nothing more is read from the worker's channel
  // Each request either is found below, or has a later ticket and is detected by its generation.
  const std::uint64_t newest = board_.channel.await_published();
  const open_requests open = open_up_to(board_.requests, newest);
  // A worker that died before it served has started nothing: `end` then changes nothing.
  board_.worker.end(!lied && slot_words_are_valid(open));
  const std::shared_ptr<fault_record> record = faults_.analyse(death, open);
  board_.memory.lose(board_.options.salvage, newest, record->cause);
  if (board_.cancelled.any()) answers.take_cancelled();
  answers.answer_failures();
  next_ticket_ = newest + 1;
  sort_requests(open, *record, answers);
  board_.worker.sorted_out();
  faults_.complete(record);
  answers.unlock();
  faults_.publish(record);
  start_deadlines_.look_again();
  board_.channel.wake_waiters();
}

std::optional<time_span> recovery::writes_on_for() {
  constexpr std::int64_t slowest_bytes_per_us = 1000;  // the slowest of all buses; an H200's moves 55,000
  if (!board_.channel->page().note.read().work_ended) return {};
  completion::lock answers(completion_);
  answers.collect();
  const open_requests open = open_up_to(board_.requests, board_.channel.newest_ticket());
  if (board_.worker.violated() || !slot_words_are_valid(open)) return {};  // its words are not trusted
  std::uint64_t bytes = 0;
  for (const auto& [ticket, slot] : open)
    if (!board_.requests[slot].answered && has_started(board_.channel, board_.worker, slot, ticket))
      bytes += copied_bytes(board_.requests[slot]);
  return time_span(std::chrono::microseconds(static_cast<std::int64_t>(bytes) / slowest_bytes_per_us));
}

bool recovery::slot_words_are_valid(const open_requests& open) const noexcept {
  return std::none_of(open.begin(), open.end(), [this](const auto& request) {
    return is_impossible_word(board_.requests, board_.channel->slot(request.second).load(std::memory_order_acquire),
                              request.second, request.first);
  });
}

// Handles the requests in ticket order, because the fate of one affects later ones. A started request cannot have
// harmed an earlier one that had not started: if they conflicted, the later one would have waited for the earlier. If
// both had started, see mark_overwritten.
void recovery::sort_requests(const open_requests& open, fault_record& record, completion::lock& answers) {
  kept_ = 0;
  {
    device_memory::marking marks(board_.memory);
    for (const auto& [ticket, slot] : open) expect_marks(board_.requests[slot], marks);
    completion_.count_failures();
    mark_overwritten(open, record.cause, marks);
    for (const auto& [ticket, slot] : open_up_to(board_.requests, UINT64_MAX)) {
      ledger_entry& e = board_.requests[slot];
      if (ticket >= next_ticket_) {
        propagate_marks(e, marks);
      } else if (e.answered) {
        // An earlier request that is kept may have removed the marks of these outputs.
        if (e.failure) mark_outputs_stale(board_.memory, e, *e.failure, marks);
      } else {
        add_request(record, board_.channel, e, slot, fate_of(slot, ticket, record, marks));
      }
    }
  }
  // Answer only now, so that a thread that has an answer finds the memory marked accordingly.
  for (const auto& [ticket, slot] : open) {
    ledger_entry& e = board_.requests[slot];
    if (e.answered)
      answers.retire(slot);
    else if (const auto why = std::move(e.failure))
      answers.settle(slot, why.get(), true);
  }
  board_.downloads.begin_again();
}

// A request may start before earlier ones on its lane are known to be done, and may have overwritten memory that they
// read. Those must not run again, unless a request that runs before them writes that memory again.
void recovery::mark_overwritten(const open_requests& open, const error& cause, device_memory::marking& marks) {
  const auto started = [this](const auto& request) {
    return has_started(board_.channel, board_.worker, request.second, request.first);
  };
  if (std::none_of(open.begin(), open.end(), [&](const auto& request) {
        return board_.requests[request.second].retries != 0 && started(request);
      }))
    return;
  for (const auto& request : open) {
    if (!started(request)) continue;
    for (const auto& [what, where] : board_.requests[request.second].accesses())
      if (what.mode != access_mode::read && where.get() != nullptr && !board_.memory.outlives_workers(*where.get()))
        marks.overwritten(*where.get(), what.begin, what.end, open.back().first, cause);
  }
}

// Decides the fate of one request, and marks its outputs for later requests.
request_fate recovery::fate_of(std::uint32_t slot, std::uint64_t ticket, const fault_record& death,
                               device_memory::marking& marks) {
  ledger_entry& e = board_.requests[slot];
  const auto fails = [&](error with) {
    mark_outputs_stale(board_.memory, e, with, marks);
    e.failure = std::make_unique<const error>(std::move(with));
  };
  if (has_started(board_.channel, board_.worker, slot, ticket)) {
    error lost = lost_with(death.cause, id_of(board_.channel, e, slot), death.generation);
    // The request may have written a part of its outputs, which a second run must not read.
    if (e.retries != 0 && !start_deadlines_.has_passed(e) && !reads_what_it_writes(board_.memory, e, lost) &&
        !missing_input(e, marks)) {
      --e.retries;
      keep(slot, ticket, marks);
      return request_fate::retried;
    }
    fails(std::move(lost));
    return request_fate::lost;
  }
  if (const auto cause = missing_input(e, marks)) {
    fails(cause->passed_on_to(id_of(board_.channel, e, slot)));
    return request_fate::stale;
  }
  keep(slot, ticket, marks);
  return request_fate::kept;
}

std::optional<error> recovery::missing_input(const ledger_entry& e, device_memory::marking& marks) {
  const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
  if (e.failure) return *e.failure;
  for (const block_access& a : e.accesses()) {
    marks.renew(*a.where.get());
    if (!reads(a.what.mode) && !a.where->gone.load(std::memory_order_acquire)) continue;
    if (auto cause = marks.stale_cause(*a.where.get(), a.what.begin, a.what.end, ticket)) return cause;
  }
  return {};
}

// Puts the request on the list for the next worker, and makes its outputs valid.
void recovery::keep(std::uint32_t slot, std::uint64_t ticket, device_memory::marking& marks) {
  // Until the next worker's channel is mapped, the request can be cancelled, so its word must not say `started`.
  std::uint64_t started = protocol::slot_word(ticket, protocol::phase::started);
  board_.channel->slot(slot).compare_exchange_strong(started, protocol::slot_word(0, protocol::phase::none));
  for (const block_access& a : board_.requests[slot].accesses())
    if (makes_valid(a.what.mode)) marks.revives(*a.where.get(), a.what.begin, a.what.end, ticket);
  protocol::set_generation(board_.channel.commands().record(slot).data(),
                           static_cast<std::uint32_t>(board_.memory.generation()));
  board_.channel.commands().keep(kept_++, ticket, slot);
}

void recovery::answer_all(const device_supervisor::action& end) {
  completion_.drive_blocking();  // answers the requests that the worker has finished
  std::shared_ptr<fault_record> record;
  if (end.seen_ns != 0) {
    const completion::lock guard(completion_);
    const open_requests open = open_up_to(board_.requests, board_.channel.newest_ticket());
    record = faults_.analyse(end, open);
    for (const auto& [ticket, slot] : open) {
      if (board_.requests[slot].answered) continue;
      add_request(*record, board_.channel, board_.requests[slot], slot, request_fate::lost);
    }
    faults_.complete(record);
  }
  const error why = record ? record->cause : *end.why;
  board_.memory.lose(salvage::strict, board_.channel.newest_ticket(), why);
  if (record) faults_.publish(record);  // before the answers, so that a thread that has one finds the record
  completion_.end_all(why);
  completion_.drive_blocking();
}

void recovery::answer_all_and_keep_memory(const error& why) {
  board_.memory.keep_all();
  answer_all({.kind = device_supervisor::action_kind::answer_all, .why = why});
}

void recovery::reset() {
  kept_ = 0;  // everything has been answered
  next_ticket_ = completion_.revive() + 1;
}

result<void> recovery::serve(worker_link& link) {
  {
    const completion::lock driving(completion_);
    TROUPE_TRY(board_.cancelled.carry_over([&] { return board_.channel.show(link.channel()); }));
    // Requests that were answered but are not retired must not run either.
    for (std::uint32_t slot = 0; slot < board_.requests.capacity(); ++slot)
      if (const ledger_entry& e = board_.requests[slot]; e.in_flight.load(std::memory_order_seq_cst) && e.answered)
        board_.cancelled.write(slot, e.ticket.load(std::memory_order_relaxed));
    TROUPE_TRY(completion_.begin_reading());
    board_.worker.begin(link.id());
  }
  start_deadlines_.look_again();  // damaged words in the previous channel may have hidden overdue requests
  board_.worker.set_pid(link.pid());
  const auto guard = workers_.lock();
  if (link.missed_memory.load())
    return error(reaction::context_lost, "device", "the worker did not accept its messages; it was ended");
  return link.send_serve({.next_ticket = next_ticket_,
                          .last_report = completion_.reports_seen(std::memory_order_seq_cst),
                          .kept = kept_,
                          .generation = static_cast<std::uint32_t>(board_.memory.generation()),
                          .segments = segments_.sent()});
}

}  // namespace troupe
