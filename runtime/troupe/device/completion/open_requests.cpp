// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/completion/open_requests.hpp>

namespace troupe {

open_requests open_up_to(const ledger& requests, std::uint64_t newest) {
  open_requests open;
  for (std::uint32_t slot = 0; slot < requests.capacity(); ++slot) {
    const ledger_entry& e = requests[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
    if (ticket <= newest) open.emplace_back(ticket, slot);
  }
  std::sort(open.begin(), open.end());
  return open;
}

bool is_impossible_word(const ledger& requests, std::uint64_t word, std::uint32_t slot, std::uint64_t ticket) noexcept {
  const ledger_entry& e = requests[slot];
  return word > protocol::slot_word(ticket, protocol::phase::cancelled) &&
         e.in_flight.load(std::memory_order_seq_cst) && e.ticket.load(std::memory_order_relaxed) == ticket;
}

std::uint64_t copied_bytes(const ledger_entry& e) noexcept {
  // A graph may contain copies; other libraries leave nothing large to the copy engine.
  if (!e.info->label.starts_with("memory.") && !e.info->label.starts_with("graph.")) return 0;
  std::uint64_t most = 0;
  for (const block_access& a : e.accesses()) most = std::max(most, a.what.end - a.what.begin);
  return most;
}

bool has_started(const shared_channel& channel, const serving_worker& worker, std::uint32_t slot,
                 std::uint64_t ticket) noexcept {
  if (worker.over()) return false;
  return !worker.believed() ||
         channel->slot(slot).load(std::memory_order_acquire) == protocol::slot_word(ticket, protocol::phase::started);
}

}  // namespace troupe
