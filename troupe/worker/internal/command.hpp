// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/worker/internal/operation.hpp>
#include <troupe/worker/internal/protocol.hpp>

namespace troupe {

/// The record of a command, taken apart.
struct parsed_command {
  protocol::command_header head;
  std::span<const std::byte> accesses;  ///< those in the record
  memory_access list;                   ///< where they are, when head.access_count is `listed_accesses`
  std::span<const std::byte> payload;
};

/// Nothing when the bytes cannot be a command. Never reads outside them. The worker trusts the application, but a
/// damaged record must end in a clear error and not in somebody's memory.
std::optional<parsed_command> parse_command(std::span<const std::byte> record) noexcept;

/// Whether these bytes are accesses: each with a mode there is, none ending before it begins.
bool are_accesses(std::span<const std::byte> bytes) noexcept;

}  // namespace troupe
