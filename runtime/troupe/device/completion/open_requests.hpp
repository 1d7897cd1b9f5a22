// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/workers/serving_worker.hpp>
#include <utility>
#include <vector>

namespace troupe {

/// Requests that are not retired: ticket and slot, by ticket.
using open_requests = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

/// Those that were sent up to this ticket.
open_requests open_up_to(const ledger& requests, std::uint64_t newest);

/// A slot's word is of the request that has it, or of one before. The request is looked for after the word was read: so
/// the word cannot be that of another, to which the slot was given meanwhile.
bool is_impossible(const ledger& requests, std::uint64_t word, std::uint32_t slot, std::uint64_t ticket) noexcept;

/// With the drive lock: has the worker that serves begun it, as far as is known? Of a worker that wrote what cannot be
/// nothing is believed: what it says it has not touched may be half done.
bool has_started(const shared_channel& channel, const serving_worker& worker, std::uint32_t slot,
                 std::uint64_t ticket) noexcept;

}  // namespace troupe
