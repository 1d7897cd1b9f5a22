// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What fails, or is cancelled, and what that does to those behind it.
#include <algorithm>
#include <troupe/device/internal/core.hpp>

namespace troupe {

void device_core::fail(std::uint32_t slot, const error& why, bool retires) {
  ledger_entry& e = ledger_[slot];
  if (e.answered) return;
  // Before the answer: whoever has it finds the outputs stale. Once nothing will run any more, nobody can read them,
  // and all memory is stale as a whole.
  if (!dead_.load(std::memory_order_relaxed)) {
    spoil_outputs(e, why);
    failures_seen_.fetch_add(1, std::memory_order_seq_cst);
    note_spoiled_readers(e, why);
  }
  settle(slot, &why, retires);
}

void device_core::spoil_outputs(const ledger_entry& e, const error& why) {
  for (const auto& [a, where] : e.accesses()) {
    block* b = where.get();
    if (a.mode == access_mode::read || b == nullptr || !spoils(*b, why)) continue;
    memory_->mark_stale(*b, a.begin, a.end, e.ticket, why, [&](auto&& replaced) {
      for (std::uint32_t s = 0; s < ledger_.capacity(); ++s) {
        const ledger_entry& later = ledger_[s];
        if (!later.in_flight.load(std::memory_order_seq_cst) || later.ticket <= e.ticket) continue;
        for (const block_access& also : later.accesses())
          if (also.what.mode == access_mode::write && also.where.get() == b) replaced(also.what.begin, also.what.end);
      }
    });
  }
}

// What later requests replace is not marked, so no mark tells those between.
void device_core::note_spoiled_readers(const ledger_entry& e, const error& why) {
  for (std::uint32_t s = 0; s < ledger_.capacity(); ++s) {
    ledger_entry& later = ledger_[s];
    if (later.in_flight.load(std::memory_order_seq_cst) && !later.answered && !later.failure &&
        later.ticket > e.ticket && reads_from(later, e, why))
      later.failure = std::make_unique<const error>(why);
  }
}

// A worker that was lost has taken nothing of what it could not write.
bool device_core::spoils(const block& b, const error& why) const noexcept {
  return why.reaction() != reaction::context_lost || !memory_->outlives_workers(b);
}

// Something that `writer` writes, and spoils by failing, and no request between them writes.
bool device_core::reads_from(const ledger_entry& reader, const ledger_entry& writer, const error& why) const noexcept {
  for (const auto& [read, where] : reader.accesses())
    for (const auto& [written, whose] : writer.accesses()) {
      const std::uint64_t begin = std::max(read.begin, written.begin), end = std::min(read.end, written.end);
      if (read.mode != access_mode::write && written.mode != access_mode::read && where.get() == whose.get() &&
          begin < end && spoils(*where.get(), why) &&
          !replaced_between(where.get(), begin, end, writer.ticket, reader.ticket))
        return true;
    }
  return false;
}

// A request that was checked before a failure became known and published after it.
void device_core::look_at_inputs_again(std::uint32_t slot, std::uint64_t ticket) {
  const drive_guard guard(*this);
  ledger_entry& e = ledger_[slot];
  if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket != ticket || e.answered || e.failure) return;
  for (const auto& [read, where] : e.accesses()) {
    if (read.mode == access_mode::write) continue;
    if (auto cause = memory_->stale_cause(*where.get(), read.begin, read.end, ticket))
      return void(e.failure = std::make_unique<const error>(std::move(*cause)));
  }
}

// Do requests between these two write all of it?
bool device_core::replaced_between(const block* where, std::uint64_t begin, std::uint64_t end, std::uint64_t after,
                                   std::uint64_t before) const noexcept {
  for (bool further = true; further && begin < end;) {
    further = false;
    for (std::uint32_t s = 0; s < ledger_.capacity(); ++s) {
      const ledger_entry& e = ledger_[s];
      if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket <= after || e.ticket >= before) continue;
      for (const auto& [what, of] : e.accesses())
        if (what.mode == access_mode::write && of.get() == where && what.begin <= begin && begin < what.end) {
          begin = what.end;
          further = true;
        }
    }
  }
  return begin >= end;
}

void device_core::answer_everything() {
  error why(reaction::stopped, "device", "stopped");
  {
    const std::scoped_lock guard(why_lock_);
    if (death_) why = *death_;
  }
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot) {
    ledger_entry& e = ledger_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    if (e.answered) {
      retire(slot);
      continue;
    }
    error::details d = why.all();
    d.request = {std::string(e.info->label), e.ticket};
    d.generation = memory_->generation();
    fail(slot, error(std::move(d)), true);
  }
}

void device_core::cancel(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept {
  if (slot >= ledger_.capacity()) return;
  {
    // One step for whoever takes the lock: a slot that is marked is also on the list.
    const std::scoped_lock guard(cancel_lock_);
    std::atomic<std::uint64_t>& word = channel_.slot(slot);
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    do {
      if (protocol::ticket_of(seen) >= ticket) return;
    } while (!word.compare_exchange_weak(seen, protocol::slot_word(ticket, protocol::phase::cancelled)));
    cancelled_.push_back({slot, ticket, why, how});
    has_cancelled_.store(true, std::memory_order_relaxed);
  }
  drive();
}

void device_core::take_cancelled() {
  {
    const std::scoped_lock guard(cancel_lock_);
    cancelled_.swap(cancelled_now_);
    has_cancelled_.store(false, std::memory_order_relaxed);
  }
  for (const cancellation& c : cancelled_now_) {
    ledger_entry& e = ledger_[c.slot];
    if (!e.in_flight.load(std::memory_order_acquire) || e.ticket != c.ticket) continue;
    fail(c.slot,
         error(error::details{.reaction = c.how,
                              .domain = "device",
                              .text = c.why,
                              .request = {std::string(e.info->label), e.ticket},
                              .generation = memory_->generation()}),
         false);
  }
  cancelled_now_.clear();
}

}  // namespace troupe
