// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/workers/serving_worker.hpp>
#include <utility>
#include <vector>

namespace troupe {

/// Requests that are not retired, as pairs of ticket and slot, sorted by ticket.
using open_requests = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

/// Returns the open requests with tickets up to `newest`.
open_requests open_up_to(const ledger& requests, std::uint64_t newest);

/// Returns true if no correct worker can have written `word`: a slot's word belongs to the request in the slot or to an
/// earlier one. Read the word before the call, so that it cannot belong to a request that got the slot in between.
bool is_impossible_word(const ledger& requests, std::uint64_t word, std::uint32_t slot, std::uint64_t ticket) noexcept;

/// Returns the slot of the request that a lane's log names at position `at`; nullopt if that request is not in flight.
inline std::optional<std::uint32_t> slot_in_log(const ledger& requests, const shared_channel& channel,
                                                std::uint32_t lane, std::uint64_t at) noexcept {
  const std::uint64_t word = channel->log(lane, at).load(std::memory_order_relaxed);
  const std::uint32_t slot = protocol::slot_of(word);
  if (slot >= requests.capacity()) return {};
  const ledger_entry& e = requests[slot];
  if (!e.in_flight.load(std::memory_order_acquire) || protocol::log_word(e.ticket, slot) != word) return {};
  return slot;
}

/// Returns the number of bytes that a GPU's copy engine may move for the request. The copy engine continues after
/// another request's kernel has failed.
std::uint64_t copied_bytes(const ledger_entry& e) noexcept;

/// Returns true if the serving worker has started the request, as far as is known. After a violation nothing that the
/// worker wrote is trusted: a request that appears as not started may be half done. The caller holds the drive lock.
bool has_started(const shared_channel& channel, const serving_worker& worker, std::uint32_t slot,
                 std::uint64_t ticket) noexcept;

}  // namespace troupe
