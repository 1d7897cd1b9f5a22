// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>

/// Names of requests in texts: `jit.launch scatter (scatter.cu) "step 3"`. They are made from the encoded request when
/// they are needed, so requests that do not fail pay nothing.
namespace troupe {

/// Returns an open request's name and ticket. With `died_of`, the worker has died of the request, whose reply may tell
/// where.
request_id id_of(const shared_channel& channel, const ledger_entry& e, std::uint32_t slot, bool died_of = false);

/// Returns the name of a request that was not sent.
std::string name_of_unsent(const request_info& info, const void* request, std::span<const operand_use> uses,
                           std::string_view label);

/// Returns the operands of an open request: those of its fields, then other memory that it uses.
std::vector<encoded_operand> operands_of(const shared_channel& channel, const ledger_entry& e, std::uint32_t slot);

}  // namespace troupe
