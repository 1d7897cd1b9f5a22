// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/memory/blocks/device_memory.hpp>

/// The memory that a request makes stale when it fails, and valid when it runs.
namespace troupe {

/// Announces that the request's outputs may be marked, because it or an earlier request fails.
void expect_marks(const ledger_entry& e, device_memory::marking& marks);
bool touches_marked_memory(const ledger_entry& e) noexcept;
/// Marks the outputs of a failed request as stale.
void mark_outputs_stale(const device_memory& memory, const ledger_entry& e, const error& why,
                        device_memory::marking& marks);
/// Updates the marks for a request that has not failed, as far as is known. If it reads stale memory, stores the cause
/// in its entry. Removes the marks of the memory that it overwrites.
void propagate_marks(ledger_entry& e, device_memory::marking& marks);
/// Stores the cause if the request reads memory that became stale after its last check. `failures` is
/// completion::failures_seen now, and `marks` is the memory or, while one exists, its `marking`.
template <class Marks>
void recheck_inputs(ledger_entry& e, const Marks& marks, std::uint32_t failures);
/// Returns true if the request reads memory that its own failure makes stale.
bool reads_what_it_writes(const device_memory& memory, const ledger_entry& e, const error& why) noexcept;

}  // namespace troupe
