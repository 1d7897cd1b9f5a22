// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What fails, or is cancelled, and what that does to those behind it.
#include <algorithm>
#include <troupe/device/internal/core.hpp>

namespace troupe {

error device_core::passed_on(const error& cause, const request_info& info, std::uint64_t ticket) {
  return cause.passed_on_to({std::string(info.label), ticket});
}

// Answered by `answer_failures`: all that fail at once are looked at together.
void device_core::fail(std::uint32_t slot, const error& why) {
  ledger_entry& e = ledger_[slot];
  if (e.answered) return;
  e.answered = true;
  e.failure = std::make_unique<const error>(why);
  failing_.emplace_back(e.ticket, slot);
}

void device_core::answer_failures() {
  if (failing_.empty()) return;
  std::sort(failing_.begin(), failing_.end());
  // Before the answers: whoever has one finds the outputs stale. Once nothing will run any more, nobody can read them,
  // and all memory is stale as a whole.
  if (!dead_.load(std::memory_order_relaxed)) spread_failures();
  for (const auto& [ticket, slot] : failing_) settle(slot, ledger_[slot].failure.get(), false);
  failing_.clear();
}

// What they leave behind, and what that means for those that were sent after them: once through all of these, in their
// order.
void device_core::spread_failures() {
  device_memory::marking marks(*memory_);
  for (const auto& [ticket, slot] : failing_) expect_marks(ledger_[slot], marks);
  // Whoever reads this count later, and is checked then, finds the marks. Whoever read it before is seen below, or
  // looks again.
  failures_seen_.fetch_add(1, std::memory_order_seq_cst);
  open_requests concerned;
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot) {
    const ledger_entry& e = ledger_[slot];
    if (e.in_flight.load(std::memory_order_seq_cst) && e.ticket >= failing_.front().first && touches_marks(e))
      concerned.emplace_back(e.ticket, slot);
  }
  std::sort(concerned.begin(), concerned.end());
  auto next = failing_.begin();
  for (const auto& [ticket, slot] : concerned) {
    ledger_entry& e = ledger_[slot];
    while (next != failing_.end() && next->first < ticket) ++next;
    if (next != failing_.end() && next->first == ticket)
      spoil_outputs(e, *e.failure, marks);
    else
      goes_on(e, marks);
  }
}

// Whatever it writes may be marked, as it fails or as one before it does.
void device_core::expect_marks(const ledger_entry& e, device_memory::marking& marks) {
  for (const auto& [a, where] : e.accesses())
    if (a.mode != access_mode::read && where.get() != nullptr) marks.expect(*where.get());
}

bool device_core::touches_marks(const ledger_entry& e) noexcept {
  const auto all = e.accesses();
  return std::any_of(all.begin(), all.end(), [](const block_access& a) {
    return a.where.get() != nullptr && a.where.get()->stale_marks.load(std::memory_order_relaxed) != 0;
  });
}

void device_core::spoil_outputs(const ledger_entry& e, const error& why, device_memory::marking& marks) {
  for (const auto& [a, where] : e.accesses())
    if (a.mode != access_mode::read && where.get() != nullptr && spoils(*where.get(), why))
      marks.fails(*where.get(), a.begin, a.end, e.ticket, why);
}

// It has not failed, as far as we know. What it reads stale is remembered: what it replaces shows no mark to anybody.
void device_core::goes_on(ledger_entry& e, device_memory::marking& marks) {
  for (const auto& [a, where] : e.accesses()) {
    if (a.mode == access_mode::write || e.answered || e.failure) continue;
    if (auto cause = marks.stale_cause(*where.get(), a.begin, a.end, e.ticket))
      e.failure = std::make_unique<const error>(std::move(*cause));
  }
  for (const auto& [a, where] : e.accesses())
    if (a.mode == access_mode::write) marks.replaces(*where.get(), a.begin, a.end, e.ticket);
}

// A worker that was lost has taken nothing of what it could not write.
bool device_core::spoils(const block& b, const error& why) const noexcept {
  return why.reaction() != reaction::context_lost || !memory_->outlives_workers(b);
}

// Something that it spoils by failing.
bool device_core::reads_what_it_writes(const ledger_entry& e, const error& why) const noexcept {
  for (const auto& [read, where] : e.accesses())
    for (const auto& [written, whose] : e.accesses())
      if (read.mode != access_mode::write && written.mode != access_mode::read && where.get() == whose.get() &&
          read.begin < written.end && written.begin < read.end && spoils(*where.get(), why))
        return true;
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

void device_core::answer_everything() {
  error why(reaction::stopped, "device", "stopped");
  {
    const std::scoped_lock guard(why_lock_);
    if (death_) why = *death_;
  }
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot) {
    ledger_entry& e = ledger_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    outlive_thread(e);
    if (e.answered) {
      retire(slot);
      continue;
    }
    error::details d = why.all();
    d.request = {std::string(e.info->label), e.ticket};
    d.generation = memory_->generation();
    const error told(std::move(d));
    settle(slot, &told, true);
  }
}

// A thread is not ended but given up: what it may still write is let go of when it has come to its end.
void device_core::outlive_thread(ledger_entry& e) {
  if (options_.isolation != isolation::thread) return;
  const std::scoped_lock guard(link_lock_);
  if (!links_.empty()) e.hand_memory_to(thread_uses_);
}

void device_core::cancel(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept {
  if (slot >= ledger_.capacity()) return;
  if (is_impossible(channel_.slot(slot).load(std::memory_order_acquire), slot, ticket))
    return violated("the state of a request");
  if (mark_cancelled(slot, ticket, why, how)) drive();
}

// False: it has started, or has been cancelled before.
bool device_core::mark_cancelled(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept {
  // One step for whoever takes the lock: a slot that is marked is also on the list.
  const std::scoped_lock guard(cancel_lock_);
  std::atomic<std::uint64_t>& word = channel_.slot(slot);
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  do {
    if (protocol::ticket_of(seen) >= ticket) return false;
  } while (!word.compare_exchange_weak(seen, protocol::slot_word(ticket, protocol::phase::cancelled)));
  cancelled_.push_back({slot, ticket, why, how});
  has_cancelled_.store(true, std::memory_order_relaxed);
  return true;
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
    fail(c.slot, error(error::details{.reaction = c.how,
                                      .domain = "device",
                                      .text = c.why,
                                      .request = {std::string(e.info->label), e.ticket},
                                      .generation = memory_->generation()}));
  }
  cancelled_now_.clear();
}

}  // namespace troupe
