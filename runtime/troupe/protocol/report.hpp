// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/error.hpp>

/// The report of a failed or skipped operation in the report ring, which a worker writes and the application reads.
namespace troupe::protocol {

/// The fixed part of a report. Texts follow, each after its length in 16 bits: the domain, the text, the name of the
/// request that failed first, and the chain as pairs of ticket and name.
struct report_header {
  std::uint64_t number;        ///< counts the reports of a device: 1, 2, 3 …
  std::uint64_t ticket;        ///< ticket of the request that the report is about
  std::uint64_t cause_ticket;  ///< ticket of the request that failed first
  std::int64_t code = 0;
  std::uint32_t slot;
  std::uint8_t reaction = 0;
  std::uint8_t chain = 0;  ///< number of entries in the chain
  std::uint16_t reserved = 0;
};
inline constexpr std::size_t max_report_bytes = 2048;

/// Writes a report to `room`, at most max_report_bytes, and returns its length. Cuts texts that do not fit. Sets
/// `head.chain`.
std::size_t write_report(std::span<std::byte> room, report_header head, std::string_view domain, std::string_view text,
                         std::string_view first_name, std::span<const request_id> chain) noexcept;

/// The parts of a report that was copied out of the ring. Its content is not trusted.
struct parsed_report {
  report_header head;
  error::details what;
};
/// Parses a report. Returns nullopt if the bytes cannot be one. Never reads outside of them.
std::optional<parsed_report> parse_report(std::span<const std::byte> record);

}  // namespace troupe::protocol
