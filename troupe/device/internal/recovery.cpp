// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// From one worker to the next: every request gets its one answer, from the one that died or from the one that follows.
#include <sched.h>
#include <algorithm>
#include <cstring>
#include <troupe/async/kept_continuations.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/device/internal/core.hpp>

namespace troupe {
namespace {

error lost(const error& why, const ledger_entry& e, std::uint64_t ticket, std::uint64_t generation) {
  error::details d = why.all();
  d.request = {std::string(e.info->label), ticket};
  d.generation = generation;
  return error(std::move(d));
}

// The reason why an input is stale becomes the reason why the request that wanted it cannot run.
error passed_on(const error& cause, const ledger_entry& e, std::uint64_t ticket) {
  error::details d = cause.all();
  if (d.chain.size() < max_chain) d.chain.push_back({std::string(e.info->label), ticket});
  return error(std::move(d));
}

}  // namespace

// The worker that served is dead. What it finished is answered so; what it had started and not finished gets `why`;
// what it had not started is kept for the next one, if what it reads has survived or is written again before.
void device_core::sort_out(const error& why) {
  job* continuations;
  {
    kept_continuations kept;
    const std::scoped_lock guard(drive_lock_);
    collect();
    violated_.store(true);  // the rest of what it wrote is of no interest
    // Senders publish right after they have claimed their tickets: from here on each request is either seen below, or
    // comes with a later ticket and finds out by its generation.
    const std::uint64_t newest = commands_->newest_ticket();
    while (!commands_->all_published(newest)) ::sched_yield();
    memory_->lose(options_.salvage, newest, why);
    if (has_cancelled_.load(std::memory_order_relaxed)) take_cancelled();
    sort_requests(newest, why);
    continuations = kept.take();
  }
  hand_over(continuations);
  wake_waiters();
}

void device_core::sort_requests(std::uint64_t newest, const error& why) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> open;
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot) {
    ledger_entry& e = ledger_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
    if (ticket > newest) continue;
    if (e.answered)
      retire(slot);
    else
      open.emplace_back(ticket, slot);
  }
  std::sort(open.begin(), open.end());
  // First what had started: whatever it could write is not what it was. Then the others, in their order.
  const auto had_started = [this](const auto& request) {
    return channel_.slot(request.second).load(std::memory_order_acquire) ==
           protocol::slot_word(request.first, protocol::phase::started);
  };
  const auto waiting = std::stable_partition(open.begin(), open.end(), had_started);
  for (auto r = open.begin(); r != waiting; ++r)
    fail(r->second, lost(why, ledger_[r->second], r->first, memory_->generation()), true);
  kept_ = 0;
  next_ticket_ = newest + 1;
  for (auto r = waiting; r != open.end(); ++r) keep_or_fail(r->second, r->first);
}

void device_core::keep_or_fail(std::uint32_t slot, std::uint64_t ticket) {
  ledger_entry& e = ledger_[slot];
  for (const block_access& a : e.accesses()) {
    memory_->renew(*a.where.get());
    if (a.what.mode == access_mode::write) continue;
    if (const auto cause = memory_->stale_cause(*a.where.get(), a.what.begin, a.what.end))
      return fail(slot, passed_on(*cause, e, ticket), true);
  }
  for (const block_access& a : e.accesses())
    if (a.what.mode != access_mode::read) memory_->mark_revived(*a.where.get(), a.what.begin, a.what.end);
  const auto generation = static_cast<std::uint32_t>(memory_->generation());
  std::memcpy(commands_->record(slot).data() + offsetof(protocol::command_header, generation), &generation,
              sizeof generation);
  commands_->keep(kept_++, ticket, slot);
}

// From now on the channel is the one that this worker shares with us, and the mailbox is its own to read.
result<void> device_core::serve(worker_link& link) {
  {
    const std::scoped_lock guard(drive_lock_, cancel_lock_);
    if (auto ok = show_channel(link.channel()); !ok) return ok;
    // What has been cancelled, and may have been answered, must not run.
    const auto cancelled = [this](std::uint32_t slot, std::uint64_t ticket) {
      channel_.slot(slot).store(protocol::slot_word(ticket, protocol::phase::cancelled));
    };
    for (const cancellation& c : cancelled_) cancelled(c.slot, c.ticket);
    for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot)
      if (const ledger_entry& e = ledger_[slot]; e.in_flight.load(std::memory_order_seq_cst) && e.answered)
        cancelled(slot, e.ticket.load(std::memory_order_relaxed));
    auto reports = ring_region::open(channel_.reports());
    if (!reports) return reports.error();
    reports_.emplace(*reports);
    retired_.fill(0);
    retired_total_.store(0, std::memory_order_relaxed);
    channel_.application().retired.store(0, std::memory_order_relaxed);
    serving_.store(link.id());
    violated_.store(false);
  }
  worker_pid_.store(link.pid());
  const std::scoped_lock guard(link_lock_);
  return link.send_serve({.next_ticket = next_ticket_,
                          .last_report = reports_seen_.load(),
                          .kept = kept_,
                          .generation = static_cast<std::uint32_t>(memory_->generation()),
                          .segments = segments_sent_.load(std::memory_order_relaxed)});
}

// The channel of another worker appears where the last one's was.
result<void> device_core::show_channel(std::shared_ptr<const memory_file> file) {
  auto old = mapping::map(*shown_channel_, map_access::read_write);
  if (!old) return old.error();
  protocol::progress_page& page = channel_.page();
  // Far from what anybody has read on the old page, and is about to sleep on.
  constexpr std::uint32_t leap = 1 << 16;
  const std::uint32_t epoch = page.epoch.load() + leap, idle_epoch = page.idle_epoch.load() + leap;
  if (auto ok = channel_memory_.show(*file); !ok) return ok;
  page.epoch.store(epoch);
  page.idle_epoch.store(idle_epoch);
  shown_channel_ = std::move(file);
  // Who sleeps on the old page would never be woken.
  const protocol::view left{channel_.at, old->data(), nullptr};
  for (std::atomic<std::uint32_t>* word : {&left.page().epoch, &left.page().idle_epoch}) {
    word->fetch_add(1);
    futex_wake(*word, futex_scope::shared);
  }
  return {};
}

}  // namespace troupe
