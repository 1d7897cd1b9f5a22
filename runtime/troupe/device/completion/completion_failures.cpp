// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Requests that fail or are cancelled, and what that means for later requests.
#include <algorithm>
#include <cstring>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/completion/stale_outputs.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {

// Only notes the failure: `answer_failures` handles all requests that fail together in one pass.
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
  // Marks outputs stale before answering, so that a thread that has the answer finds them stale. On a dead device that
  // is unnecessary: nothing can read the outputs, and all memory is stale as a whole.
  if (!dead_.load(std::memory_order_relaxed)) spread_failures();
  for (const auto& [ticket, slot] : failing_) settle(slot, requests_[slot].failure.get(), false);
  failing_.clear();
}

// Marks the outputs of failed requests stale, and updates all later requests, in one pass in ticket order.
void completion::spread_failures() {
  device_memory::marking marks(memory_);
  for (const auto& [ticket, slot] : failing_) expect_marks(requests_[slot], marks);
  // The loop below removes marks that are needed by each request that was checked before they existed, also by one that
  // has a ticket and is not in flight yet.
  const std::uint64_t newest = marks.without_lock([this] { return channel_.await_published(); });
  const std::uint32_t failures = failures_seen(std::memory_order_relaxed);
  // A thread that reads the count from now on and then checks its request finds the marks. A request whose thread read
  // it earlier is visited below, or checked again.
  count_failures();
  open_requests affected;
  for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot) {
    ledger_entry& e = requests_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket > newest) continue;
    recheck_inputs(e, marks, failures);
    if (e.ticket >= failing_.front().first && touches_marked_memory(e)) affected.emplace_back(e.ticket, slot);
  }
  std::sort(affected.begin(), affected.end());
  auto next = failing_.begin();
  for (const auto& [ticket, slot] : affected) {
    ledger_entry& e = requests_[slot];
    while (next != failing_.end() && next->first < ticket) ++next;
    if (next != failing_.end() && next->first == ticket)
      mark_outputs_stale(memory_, e, *e.failure, marks);
    else
      propagate_marks(e, marks);
  }
}

// Fails requests that are done but whose replies say that they failed. Their worker does not know: the GPU has written
// the replies, and may have run requests that read the results. So those fail here too: each pass fails the requests
// that read results of the pass before. Impossible values are left for retire_lanes to report.
void completion::fail_by_replies(const lane_counts& done) {
  do {
    answer_failures();
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
      if (done[lane] - retired_[lane] > requests_.capacity()) continue;
      for (std::uint64_t at = retired_[lane] + 1; at <= done[lane]; ++at) {
        const std::optional<std::uint32_t> slot = slot_in_log(requests_, channel_, lane, at);
        if (slot && !requests_[*slot].answered) fail_by_reply(*slot);
      }
    }
  } while (!failing_.empty());
}

void completion::fail_by_reply(std::uint32_t slot) {
  ledger_entry& e = requests_[slot];
  recheck_inputs(e, memory_, failures_seen(std::memory_order_seq_cst));
  if (e.failure) return fail(slot, e.failure->passed_on_to(id_of(channel_, e, slot)));
  if (e.info->failure_in == nullptr) return;
  std::array<std::byte, max_reply_bytes> reply;
  std::memcpy(reply.data(), channel_->cell(slot).bytes, reply.size());
  const std::optional<error> why = e.info->failure_in(reply.data());
  if (!why) return;
  error::details d = why->all();
  d.request = id_of(channel_, e, slot);
  d.generation = memory_.generation();
  fail(slot, error(std::move(d)));
}

void completion::recheck_inputs_before(std::uint64_t ticket) {
  const lock guard(*this);
  (void)channel_.await_published();  // so that all of them are in flight
  const std::uint32_t failures = failures_seen(std::memory_order_seq_cst);
  for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot)
    if (ledger_entry& e = requests_[slot]; e.in_flight.load(std::memory_order_seq_cst) && e.ticket < ticket)
      recheck_inputs(e, memory_, failures);
}

void completion::answer_everything(std::uint64_t up_to) {
  const error why = death_ ? *death_ : error(reaction::stopped, "device", "stopped");
  for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot) {
    ledger_entry& e = requests_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket > up_to) continue;
    workers_.keep_memory_for_thread(e);
    if (e.answered) {
      retire(slot);
      continue;
    }
    error::details d = why.all();
    d.request = id_of(channel_, e, slot);
    d.generation = memory_.generation();
    const error told(std::move(d));
    settle(slot, &told, true);
  }
}

void completion::cancel(std::uint32_t slot, std::uint64_t ticket, const cancellations::reason& why) noexcept {
  if (slot >= requests_.capacity()) return;
  if (is_impossible_word(requests_, channel_->slot(slot).load(std::memory_order_acquire), slot, ticket))
    return report_violation("the state of a request");
  if (cancelled_.mark(slot, ticket, why)) drive();
}

// Holds the drive lock, because otherwise a slot could pass to another request meanwhile, or a request that is not in
// flight yet could be marked: the worker would skip it, and it would never be answered.
void completion::cancel_if(const std::function<bool(const ledger_entry&)>& wanted,
                           const cancellations::reason& why) noexcept {
  {
    const lock guard(*this);
    for (std::uint32_t slot = 0; slot < requests_.capacity(); ++slot)
      if (const ledger_entry& e = requests_[slot]; e.in_flight.load(std::memory_order_seq_cst) && wanted(e))
        cancelled_.mark(slot, e.ticket.load(std::memory_order_relaxed), why);
  }
  drive();
}

void completion::take_cancelled() {
  if (cancelled_.take_impossible()) report_violation("the state of a request");
  for (const cancellations::entry& c : cancelled_.take()) {
    ledger_entry& e = requests_[c.slot];
    if (!e.in_flight.load(std::memory_order_acquire) || e.ticket != c.ticket) continue;
    fail(c.slot, error(error::details{.reaction = c.why.how,
                                      .domain = "device",
                                      .code = c.why.code,
                                      .text = c.why.text,
                                      .request = id_of(channel_, e, c.slot),
                                      .generation = memory_.generation()}));
  }
}

}  // namespace troupe
