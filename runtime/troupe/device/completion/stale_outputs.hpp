// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/memory/device_memory.hpp>

/// What a request that fails leaves behind in memory, and what one that runs makes good.
namespace troupe {

/// The reason why an input is not there becomes the reason why the request that wanted it cannot run.
error passed_on(const error& cause, const request_info& info, std::uint64_t ticket);
/// Whatever it writes may be marked, as it fails or as one before it does.
void expect_marks(const ledger_entry& e, device_memory::marking& marks);
bool touches_marks(const ledger_entry& e) noexcept;
void spoil_outputs(const device_memory& memory, const ledger_entry& e, const error& why, device_memory::marking& marks);
/// It has not failed, as far as we know. What it reads stale is remembered: what it replaces shows no mark to anybody.
void goes_on(ledger_entry& e, device_memory::marking& marks);
/// Does it spoil something by failing that it reads?
bool reads_what_it_writes(const device_memory& memory, const ledger_entry& e, const error& why) noexcept;

}  // namespace troupe
