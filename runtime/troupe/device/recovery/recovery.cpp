// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Decides what becomes of each open request when a worker dies, and hands the remaining ones to the next worker.
#include <algorithm>
#include <cstring>
#include <troupe/base/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/completion/stale_outputs.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/recovery/fault_reporter.hpp>
#include <troupe/device/recovery/recovery.hpp>
#include <troupe/device/waiting/reactor.hpp>
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

// Names take time. Of many requests, the record only counts those behind the first.
void add_request(fault_record& to, const shared_channel& channel, const ledger_entry& e, std::uint32_t slot,
                 request_fate fate) {
  const bool listed = to.last.size() < most_listed_requests;
  to.last.push_back({listed ? id_of(channel, e, slot) : request_id(), fate});
}

}  // namespace

recovery::recovery(const device_options& options, shared_channel& channel, ledger& requests, device_memory& memory,
                   completion& completion, cancellations& cancelled, start_deadlines& deadlines,
                   download_tracker& downloads, serving_worker& worker, worker_pool& workers, shared_segments& segments,
                   fault_reporter& faults, reactor& reactor) noexcept
    : options_(options),
      channel_(channel),
      requests_(requests),
      memory_(memory),
      completion_(completion),
      cancelled_(cancelled),
      start_deadlines_(deadlines),
      downloads_(downloads),
      worker_(worker),
      workers_(workers),
      segments_(segments),
      faults_(faults),
      reactor_(reactor) {}

void recovery::sort_out(const device_supervisor::action& death) {
  const reactor::answering now(reactor_);
  std::shared_ptr<fault_record> record;
  {
    const completion::lock guard(completion_);
    completion_.collect();
    const bool lied = !worker_.violate();  // from here on nothing more is read from its channel
    // Each request either is seen below, or has a later ticket and is caught by its generation.
    const std::uint64_t newest = channel_.await_published();
    const open_requests open = open_up_to(requests_, newest);
    // A worker that died before it served has started nothing; `end` then changes nothing.
    worker_.end(!lied && slot_words_are_valid(open));
    record = faults_.analyse(death, open);
    memory_.lose(options_.salvage, newest, record->cause);
    if (cancelled_.any()) completion_.take_cancelled();
    completion_.answer_failures();
    next_ticket_ = newest + 1;
    sort_requests(open, *record);
    worker_.sorted_out();
    faults_.complete(record);
  }
  faults_.publish(record);
  start_deadlines_.look_again();
  channel_.wake_waiters();
}

std::optional<time_span> recovery::writes_on_for() {
  constexpr std::int64_t slowest_bytes_per_us = 1000;  // of any bus; an H200's takes 55,000
  if (!channel_->page().note.read().work_ended) return {};
  const reactor::answering now(reactor_);
  const completion::lock guard(completion_);
  completion_.collect();
  const open_requests open = open_up_to(requests_, channel_.newest_ticket());
  if (worker_.violated() || !slot_words_are_valid(open)) return {};  // they do not show what has started
  std::uint64_t bytes = 0;
  for (const auto& [ticket, slot] : open)
    if (!requests_[slot].answered && has_started(channel_, worker_, slot, ticket))
      bytes += copied_bytes(requests_[slot]);
  return time_span(std::chrono::microseconds(static_cast<std::int64_t>(bytes) / slowest_bytes_per_us));
}

bool recovery::slot_words_are_valid(const open_requests& open) const noexcept {
  return std::none_of(open.begin(), open.end(), [this](const auto& request) {
    return is_impossible_word(requests_, channel_->slot(request.second).load(std::memory_order_acquire), request.second,
                              request.first);
  });
}

// Goes through the requests in ticket order, because the fate of one affects later ones. A started request cannot have
// harmed an earlier one that had not started: if they conflict, the later one would have waited for the earlier. For
// one that had started as well, see mark_overwritten.
void recovery::sort_requests(const open_requests& open, fault_record& record) {
  kept_ = 0;
  {
    device_memory::marking marks(memory_);
    for (const auto& [ticket, slot] : open) expect_marks(requests_[slot], marks);
    completion_.count_failures();
    mark_overwritten(open, record.cause, marks);
    for (const auto& [ticket, slot] : open_up_to(requests_, UINT64_MAX)) {
      ledger_entry& e = requests_[slot];
      if (ticket >= next_ticket_) {
        propagate_marks(e, marks);
      } else if (e.answered) {
        // An earlier request that is kept may have made these outputs valid again.
        if (e.failure) mark_outputs_stale(memory_, e, *e.failure, marks);
      } else {
        add_request(record, channel_, e, slot, fate_of(slot, ticket, record, marks));
      }
    }
  }
  // Answer only now, so that a thread that has an answer finds the memory marked accordingly.
  for (const auto& [ticket, slot] : open) {
    ledger_entry& e = requests_[slot];
    if (e.answered)
      completion_.retire(slot);
    else if (const auto why = std::move(e.failure))
      completion_.settle(slot, why.get(), true);
  }
  downloads_.begin_again();
}

// A request starts before those in front of it on its lane are known to be done, and may have overwritten what they
// read. So those must not run again, unless something that runs before them writes it anew.
void recovery::mark_overwritten(const open_requests& open, const error& cause, device_memory::marking& marks) {
  const auto started = [this](const auto& request) {
    return has_started(channel_, worker_, request.second, request.first);
  };
  if (std::none_of(open.begin(), open.end(),
                   [&](const auto& request) { return requests_[request.second].retries != 0 && started(request); }))
    return;
  for (const auto& request : open) {
    if (!started(request)) continue;
    for (const auto& [what, where] : requests_[request.second].accesses())
      if (what.mode != access_mode::read && where.get() != nullptr && !memory_.outlives_workers(*where.get()))
        marks.overwritten(*where.get(), what.begin, what.end, open.back().first, cause);
  }
}

// Decides the fate of one request and marks its outputs for later ones.
request_fate recovery::fate_of(std::uint32_t slot, std::uint64_t ticket, const fault_record& death,
                               device_memory::marking& marks) {
  ledger_entry& e = requests_[slot];
  const auto fails = [&](error with) {
    mark_outputs_stale(memory_, e, with, marks);
    e.failure = std::make_unique<const error>(std::move(with));
  };
  if (has_started(channel_, worker_, slot, ticket)) {
    error lost = lost_with(death.cause, id_of(channel_, e, slot), death.generation);
    // It may have written part of its outputs. A second run must not read those.
    if (e.retries != 0 && !start_deadlines_.has_passed(e) && !reads_what_it_writes(memory_, e, lost) &&
        !missing_input(e, marks)) {
      --e.retries;
      keep(slot, ticket, marks);
      return request_fate::retried;
    }
    fails(std::move(lost));
    return request_fate::lost;
  }
  if (const auto cause = missing_input(e, marks)) {
    fails(cause->passed_on_to(id_of(channel_, e, slot)));
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

// Puts the request on the list for the next worker and makes its outputs valid.
void recovery::keep(std::uint32_t slot, std::uint64_t ticket, device_memory::marking& marks) {
  // Until the next worker's channel is mapped, the request can be cancelled: its word must not say `started`.
  std::uint64_t started = protocol::slot_word(ticket, protocol::phase::started);
  channel_->slot(slot).compare_exchange_strong(started, protocol::slot_word(0, protocol::phase::none));
  for (const block_access& a : requests_[slot].accesses())
    if (makes_valid(a.what.mode)) marks.revives(*a.where.get(), a.what.begin, a.what.end, ticket);
  protocol::set_generation(channel_.commands().record(slot).data(), static_cast<std::uint32_t>(memory_.generation()));
  channel_.commands().keep(kept_++, ticket, slot);
}

void recovery::answer_all(const device_supervisor::action& end) {
  completion_.drive_blocking();  // answers what the worker has finished
  std::shared_ptr<fault_record> record;
  if (end.seen_ns != 0) {
    const completion::lock guard(completion_);
    const open_requests open = open_up_to(requests_, channel_.newest_ticket());
    record = faults_.analyse(end, open);
    for (const auto& [ticket, slot] : open) {
      if (requests_[slot].answered) continue;
      add_request(*record, channel_, requests_[slot], slot, request_fate::lost);
    }
    faults_.complete(record);
  }
  const error why = record ? record->cause : *end.why;
  memory_.lose(salvage::strict, channel_.newest_ticket(), why);
  if (record) faults_.publish(record);  // before the answers, so that a thread that has one finds the record
  completion_.end_all(why);
  completion_.drive_blocking();
}

void recovery::answer_all_and_keep_memory(const error& why) {
  memory_.keep_all();
  answer_all({.kind = device_supervisor::action_kind::answer_all, .why = why});
}

void recovery::reset() {
  kept_ = 0;  // all has been answered
  next_ticket_ = completion_.revive() + 1;
}

result<void> recovery::serve(worker_link& link) {
  {
    const completion::lock driving(completion_);
    TROUPE_TRY(cancelled_.carry_over([&] { return channel_.show(link.channel()); }));
    // Requests that were answered but are not retired must not run either.
    for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot)
      if (const ledger_entry& e = requests_[slot]; e.in_flight.load(std::memory_order_seq_cst) && e.answered)
        cancelled_.write(slot, e.ticket.load(std::memory_order_relaxed));
    TROUPE_TRY(completion_.begin_reading());
    worker_.begin(link.id());
  }
  start_deadlines_.look_again();  // damaged words in the previous channel may have hidden overdue requests
  worker_.set_pid(link.pid());
  const auto guard = workers_.lock();
  if (link.missed_memory.load())
    return error(reaction::context_lost, "device", "the worker did not accept its messages; it was ended");
  return link.send_serve({.next_ticket = next_ticket_,
                          .last_report = completion_.reports_seen(std::memory_order_seq_cst),
                          .kept = kept_,
                          .generation = static_cast<std::uint32_t>(memory_.generation()),
                          .segments = segments_.sent()});
}

}  // namespace troupe
