// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What fails, or is cancelled, and what that does to those behind it.
#include <algorithm>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/stale_outputs.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {

// Answered by `answer_failures`: all that fail at once are looked at together.
void completion::fail(std::uint32_t slot, const error& why) {
  ledger_entry& e = requests_[slot];
  if (e.answered) return;
  e.answered = true;
  e.failure = std::make_unique<const error>(why);
  failing_.emplace_back(e.ticket, slot);
}

void completion::answer_failures() {
  if (failing_.empty()) return;
  std::sort(failing_.begin(), failing_.end());
  // Before the answers: a thread that has one finds the outputs stale. Once nothing will run any more, nobody can read
  // them, and all memory is stale as a whole.
  if (!dead_.load(std::memory_order_relaxed)) spread_failures();
  for (const auto& [ticket, slot] : failing_) settle(slot, requests_[slot].failure.get(), false);
  failing_.clear();
}

// What they leave behind, and what that means for those that were sent after them: once through all of these, in their
// order.
void completion::spread_failures() {
  device_memory::marking marks(memory_);
  for (const auto& [ticket, slot] : failing_) expect_marks(requests_[slot], marks);
  // A thread that reads this count later, and is checked then, finds the marks. A thread that read it before is seen
  // below, or looks again.
  count_failures();
  open_requests concerned;
  for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot) {
    const ledger_entry& e = requests_[slot];
    if (e.in_flight.load(std::memory_order_seq_cst) && e.ticket >= failing_.front().first && touches_marks(e))
      concerned.emplace_back(e.ticket, slot);
  }
  std::sort(concerned.begin(), concerned.end());
  auto next = failing_.begin();
  for (const auto& [ticket, slot] : concerned) {
    ledger_entry& e = requests_[slot];
    while (next != failing_.end() && next->first < ticket) ++next;
    if (next != failing_.end() && next->first == ticket)
      spoil_outputs(memory_, e, *e.failure, marks);
    else
      goes_on(e, marks);
  }
}

// A request that was checked before a failure became known and published after it.
void completion::look_at_inputs_again(std::uint32_t slot, std::uint64_t ticket) {
  const lock guard(*this);
  ledger_entry& e = requests_[slot];
  if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket != ticket || e.answered || e.failure) return;
  for (const auto& [read, where] : e.accesses()) {
    if (read.mode == access_mode::write) continue;
    if (auto cause = memory_.stale_cause(*where.get(), read.begin, read.end, ticket))
      return void(e.failure = std::make_unique<const error>(std::move(*cause)));
  }
}

void completion::answer_everything() {
  const error why = death_ ? *death_ : error(reaction::stopped, "device", "stopped");
  for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot) {
    ledger_entry& e = requests_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    workers_.keep_for_thread(e);
    if (e.answered) {
      retire(slot);
      continue;
    }
    error::details d = why.all();
    d.request = {std::string(e.info->label), e.ticket};
    d.generation = memory_.generation();
    const error told(std::move(d));
    settle(slot, &told, true);
  }
}

void completion::cancel(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept {
  if (slot >= requests_.capacity()) return;
  if (is_impossible(requests_, channel_->slot(slot).load(std::memory_order_acquire), slot, ticket))
    return violated("the state of a request");
  if (cancelled_.mark(slot, ticket, why, how)) drive();
}

void completion::take_cancelled() {
  for (const cancellations::one& c : cancelled_.take()) {
    ledger_entry& e = requests_[c.slot];
    if (!e.in_flight.load(std::memory_order_acquire) || e.ticket != c.ticket) continue;
    fail(c.slot, error(error::details{.reaction = c.how,
                                      .domain = "device",
                                      .text = c.why,
                                      .request = {std::string(e.info->label), e.ticket},
                                      .generation = memory_.generation()}));
  }
}

}  // namespace troupe
