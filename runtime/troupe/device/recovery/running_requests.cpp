// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/recovery/running_requests.hpp>

namespace troupe {

running_requests::running_requests(const protocol::view& channel, const ledger& requests,
                                   const std::array<std::uint64_t, max_lanes>& retired, bool streams)
    : channel_(channel), requests_(requests), streams_(streams) {
  std::uint64_t oldest = UINT64_MAX;
  for (std::uint32_t slot = 0; slot < requests.capacity(); ++slot) {
    const ledger_entry& e = requests[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    open_.push_back(e.ticket.load(std::memory_order_relaxed));
    if (!e.answered) oldest = std::min(oldest, open_.back());
  }
  if (oldest != UINT64_MAX) oldest_ = oldest;
  std::sort(open_.begin(), open_.end());
  for (std::uint32_t lane = 0; streams && lane < max_lanes; ++lane) {
    std::uint32_t slot = 0;
    std::uint64_t sequence = retired[lane] + 1;
    const ledger_entry* e = entry_at(lane, sequence, slot);
    if (e == nullptr) continue;
    heads_[lane] = e->ticket.load(std::memory_order_relaxed);
    while ((e = entry_at(lane, ++sequence, slot)) != nullptr && sequence - retired[lane] <= requests.capacity()) {
      const std::uint64_t ticket = e->ticket.load(std::memory_order_relaxed);
      // The gate is written before the state, and only for requests with a time limit.
      if (e->run_limit_ns.load(std::memory_order_relaxed) == no_deadline ||
          channel.slot(slot).load(std::memory_order_acquire) != protocol::slot_word(ticket, protocol::phase::started) ||
          !protocol::gate(channel.gate(slot).load(std::memory_order_relaxed)).shares_a_call())
        break;
      grouped_with_heads_.push_back(ticket);
    }
  }
}

// Returns the entry of the request that the lane's log names; null if the log's word is impossible.
const ledger_entry* running_requests::entry_at(std::uint32_t lane, std::uint64_t sequence,
                                               std::uint32_t& slot) const noexcept {
  const std::uint64_t word = channel_.log(lane, sequence).load(std::memory_order_acquire);
  slot = protocol::slot_of(word);
  if (slot >= requests_.capacity()) return nullptr;
  const ledger_entry& e = requests_[slot];
  const bool is_it = e.in_flight.load(std::memory_order_acquire) &&
                     protocol::log_word(e.ticket.load(std::memory_order_relaxed), slot) == word;
  return is_it ? &e : nullptr;
}

bool running_requests::is_open(std::uint64_t ticket) const noexcept {
  return std::binary_search(open_.begin(), open_.end(), ticket);
}

// Returns true if the request runs. On a GPU, a request runs if it is the first of its lane, or shares the first one's
// call, and does not wait for other lanes. It waits only for older requests. The gate names the youngest of these, and
// the lanes in which they are. If there are several such lanes, an older request at the head of one counts as waited
// for, even if it is not.
bool running_requests::runs(std::uint32_t slot, std::uint64_t ticket) const noexcept {
  if (!streams_ || ticket == oldest_) return true;
  const protocol::gate gate(channel_.gate(slot).load(std::memory_order_acquire));
  const std::uint64_t youngest = gate.youngest(ticket);
  bool waits = gate.lanes() != 0 && is_open(youngest);
  bool is_first =
      std::find(grouped_with_heads_.begin(), grouped_with_heads_.end(), ticket) != grouped_with_heads_.end();
  for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
    is_first |= heads_[lane] == ticket;
    waits |= (gate.lanes() >> lane & 1) != 0 && heads_[lane] != 0 && heads_[lane] <= youngest;
  }
  return is_first && !waits;
}

}  // namespace troupe
