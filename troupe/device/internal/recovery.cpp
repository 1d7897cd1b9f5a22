// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// From one worker to the next: every request gets its one answer, from the one that died or from the one that follows.
#include <sched.h>
#include <algorithm>
#include <cstring>
#include <troupe/base/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/transfer.hpp>

namespace troupe {
namespace {

error lost_with(const error& why, const ledger_entry& e, std::uint64_t ticket, std::uint64_t generation) {
  error::details d = why.all();
  d.request = {std::string(e.info->label), ticket};
  d.generation = generation;
  return error(std::move(d));
}

}  // namespace

// The worker that served is dead. What it finished is answered so; what it had started and not finished gets the cause,
// or runs again if it may; what it had not started is kept for the next one, if what it reads has survived or is
// written again before.
void device_core::sort_out(const device_supervisor::action& death) {
  const answering now(*this);
  std::shared_ptr<fault_record> record;
  {
    const drive_guard guard(*this);
    collect();
    const bool lied = violated_.exchange(true);  // the rest of what it wrote is of no interest
    // Senders publish right after they have claimed their tickets: from here on each request is either seen below, or
    // comes with a later ticket and finds out by its generation.
    const std::uint64_t newest = commands_->newest_ticket();
    while (!commands_->all_published(newest)) ::sched_yield();
    const open_requests open = open_up_to(newest);
    // A worker that died before it served has neither started nor said anything.
    if (!unserved_) believed_ = !lied && words_are_possible(open);
    record = analyse_fault(death, open);
    memory_->lose(options_.salvage, newest, record->cause);
    if (has_cancelled_.load(std::memory_order_relaxed)) take_cancelled();
    answer_failures();
    next_ticket_ = newest + 1;
    sort_requests(open, *record);
    unserved_ = true;
    complete(record);
  }
  publish(record);
  wake_waiters();
}

// By ticket. What has been answered already is retired.
device_core::open_requests device_core::open_up_to(std::uint64_t newest) {
  open_requests open;
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot) {
    ledger_entry& e = ledger_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
    if (ticket <= newest) open.emplace_back(ticket, slot);
  }
  std::sort(open.begin(), open.end());
  return open;
}

bool device_core::words_are_possible(const open_requests& open) const noexcept {
  return std::none_of(open.begin(), open.end(), [this](const auto& request) {
    return is_impossible(channel_.slot(request.second).load(std::memory_order_acquire), request.second, request.first);
  });
}

// A slot's word is of the request that has it, or of one before. The request is looked for after the word was read: so
// the word cannot be that of another, to which the slot was given meanwhile.
bool device_core::is_impossible(std::uint64_t word, std::uint32_t slot, std::uint64_t ticket) const noexcept {
  const ledger_entry& e = ledger_[slot];
  return word > protocol::slot_word(ticket, protocol::phase::cancelled) &&
         e.in_flight.load(std::memory_order_seq_cst) && e.ticket.load(std::memory_order_relaxed) == ticket;
}

// Of a worker that wrote what cannot be, nothing is believed: what it says it has not touched may be half done.
bool device_core::has_started(std::uint32_t slot, std::uint64_t ticket) const noexcept {
  if (unserved_) return false;
  return !believed_ ||
         channel_.slot(slot).load(std::memory_order_acquire) == protocol::slot_word(ticket, protocol::phase::started);
}

// In the order in which they were sent: what one request leaves behind decides about those that come after it. None
// that had started can have done harm to an earlier one that had not: it would have had to wait for it.
void device_core::sort_requests(const open_requests& open, fault_record& record) {
  kept_ = 0;
  {
    device_memory::marking marks(*memory_);
    for (const auto& [ticket, slot] : open) expect_marks(ledger_[slot], marks);
    failures_seen_.fetch_add(1, std::memory_order_seq_cst);  // as in spread_failures
    for (const auto& [ticket, slot] : open_up_to(UINT64_MAX)) {
      ledger_entry& e = ledger_[slot];
      if (ticket >= next_ticket_) {
        goes_on(e, marks);
      } else if (e.answered) {
        // What one before it leaves behind may have made its outputs look good again.
        if (e.failure) spoil_outputs(e, *e.failure, marks);
      } else {
        const request_id id{std::string(e.info->label), ticket};
        record.last.push_back({id, fate_of(slot, ticket, record, marks)});
      }
    }
  }
  // Only now: whoever has an answer finds what it means for the memory.
  for (const auto& [ticket, slot] : open) {
    ledger_entry& e = ledger_[slot];
    if (e.answered)
      retire(slot);
    else if (const auto why = std::move(e.failure))
      settle(slot, why.get(), true);
  }
  downloads_.begin_again();
}

// Decides about one, and notes what that means for those behind it.
request_fate device_core::fate_of(std::uint32_t slot, std::uint64_t ticket, const fault_record& death,
                                  device_memory::marking& marks) {
  ledger_entry& e = ledger_[slot];
  const auto fails = [&](error with) {
    spoil_outputs(e, with, marks);
    e.failure = std::make_unique<const error>(std::move(with));
  };
  if (has_started(slot, ticket)) {
    error lost = lost_with(death.cause, e, ticket, death.generation);
    // It may have written a part of its outputs, which no second run may read.
    if (e.retries != 0 && !reads_what_it_writes(e, lost) && !missing_input(e, marks)) {
      --e.retries;
      keep(slot, ticket, marks);
      return request_fate::retried;
    }
    fails(std::move(lost));
    return request_fate::lost;
  }
  if (const auto cause = missing_input(e, marks)) {
    fails(passed_on(*cause, *e.info, ticket));
    return request_fate::stale;
  }
  keep(slot, ticket, marks);
  return request_fate::kept;
}

std::optional<error> device_core::missing_input(const ledger_entry& e, device_memory::marking& marks) {
  const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
  if (e.failure) return *e.failure;
  for (const block_access& a : e.accesses()) {
    marks.renew(*a.where.get());
    if (a.what.mode == access_mode::write && !a.where->gone.load(std::memory_order_acquire)) continue;
    if (auto cause = marks.stale_cause(*a.where.get(), a.what.begin, a.what.end, ticket)) return cause;
  }
  return {};
}

// The next worker runs it.
void device_core::keep(std::uint32_t slot, std::uint64_t ticket, device_memory::marking& marks) {
  // Until that one shows a channel of its own, it can be cancelled.
  std::uint64_t started = protocol::slot_word(ticket, protocol::phase::started);
  channel_.slot(slot).compare_exchange_strong(started, protocol::slot_word(0, protocol::phase::none));
  for (const block_access& a : ledger_[slot].accesses())
    if (a.what.mode != access_mode::read) marks.revives(*a.where.get(), a.what.begin, a.what.end, ticket);
  const auto generation = static_cast<std::uint32_t>(memory_->generation());
  std::memcpy(commands_->record(slot).data() + offsetof(protocol::command_header, generation), &generation,
              sizeof generation);
  commands_->keep(kept_++, ticket, slot);
}

// From now on the channel is the one that this worker shares with us, and the mailbox is its own to read.
result<void> device_core::serve(worker_link& link) {
  {
    const drive_guard driving(*this);
    const std::scoped_lock guard(cancel_lock_);
    TROUPE_TRY(show_channel(link.channel()));
    // What has been cancelled, and may have been answered, must not run.
    const auto cancelled = [this](std::uint32_t slot, std::uint64_t ticket) {
      channel_.slot(slot).store(protocol::slot_word(ticket, protocol::phase::cancelled));
    };
    for (const cancellation& c : cancelled_) cancelled(c.slot, c.ticket);
    for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot)
      if (const ledger_entry& e = ledger_[slot]; e.in_flight.load(std::memory_order_seq_cst) && e.answered)
        cancelled(slot, e.ticket.load(std::memory_order_relaxed));
    auto reports = TROUPE_TRY(ring_region::open(channel_.reports()));
    reports_.emplace(reports);
    retired_.fill(0);
    retired_total_.store(0, std::memory_order_relaxed);
    channel_.application().retired.store(0, std::memory_order_relaxed);
    serving_.store(link.id());
    served_.store(link.id());
    violated_.store(false);
    unserved_ = false;
    believed_ = true;
  }
  asked_ns_ = 0;
  overrun_.reset();
  last_exit_ = {};
  worker_pid_.store(link.pid());
  const std::scoped_lock guard(link_lock_);
  if (link.missed_memory.load())
    return error(reaction::context_lost, "device", "the worker did not take its messages; it was ended");
  return link.send_serve({.next_ticket = next_ticket_,
                          .last_report = reports_seen_.load(),
                          .kept = kept_,
                          .generation = static_cast<std::uint32_t>(memory_->generation()),
                          .segments = segments_sent_.load(std::memory_order_relaxed)});
}

// The channel of another worker appears where the last one's was.
result<void> device_core::show_channel(std::shared_ptr<const memory_file> file) {
  auto old = TROUPE_TRY(mapping::map(*shown_channel_, map_access::read_write));
  protocol::progress_page& page = channel_.page();
  // Far from what anybody has read on the old page, and is about to sleep on.
  constexpr std::uint32_t leap = 1 << 16;
  const std::uint32_t epoch = page.epoch.load() + leap, idle_epoch = page.idle_epoch.load() + leap;
  TROUPE_TRY(channel_memory_.show(*file));
  page.epoch.store(epoch);
  page.idle_epoch.store(idle_epoch);
  shown_channel_ = std::move(file);
  // Who sleeps on the old page would never be woken.
  const protocol::view left{channel_.at, old.data(), nullptr};
  for (std::atomic<std::uint32_t>* word : {&left.page().epoch, &left.page().idle_epoch}) {
    word->fetch_add(1);
    futex_wake(*word, futex_scope::shared);
  }
  return {};
}

}  // namespace troupe
