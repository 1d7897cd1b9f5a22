// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/base/error.hpp>
#include <troupe/worker/internal/protocol.hpp>

namespace troupe {

/// A report as it was read from the ring: copied out already, but not trusted.
struct parsed_report {
  protocol::report_header head;
  error::details what;
};

/// Texts end up in logs and terminals: no control characters from a process that is not trusted.
void make_printable(std::string& text) noexcept;

/// Nothing when the bytes cannot be a report. Never reads outside them.
std::optional<parsed_report> parse_report(std::span<const std::byte> record);

}  // namespace troupe
