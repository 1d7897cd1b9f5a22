// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <troupe/base/by_itself.hpp>
#include <troupe/protocol/access_list.hpp>
#include <troupe/request/block.hpp>
#include <troupe/request/lane_policy.hpp>
#include <troupe/request/request.hpp>

/// A request in the mailbox, which the application writes and a worker reads: a header, the request's accesses, and the
/// encoded request.
namespace troupe::protocol {

/// The access_count of a request with more accesses than fit the record, which then holds an `access_list`.
inline constexpr std::uint8_t listed_accesses = 255;

/// Properties of a request: `alone`, it must not be coalesced; `bound`, it touches memory that only the worker of its
/// generation has; `timed`, the application watches how long it runs; and its priority.
class command_flags {
 public:
  constexpr command_flags() noexcept = default;
  constexpr command_flags(bool alone, priority p, bool bound = false, bool timed = false) noexcept
      : bits_(static_cast<std::uint8_t>((alone ? 1 : 0) | (bound ? 2 : 0) | (timed ? 4 : 0) |
                                        static_cast<int>(p) << 3)) {}
  constexpr bool alone() const noexcept { return (bits_ & 1) != 0; }
  constexpr bool bound() const noexcept { return (bits_ & 2) != 0; }
  constexpr bool timed() const noexcept { return (bits_ & 4) != 0; }
  constexpr enum priority priority() const noexcept { return static_cast<enum priority>(bits_ >> 3); }
  constexpr bool sound() const noexcept { return bits_ >> 3 <= static_cast<int>(priority::low); }

 private:
  std::uint8_t bits_ = 0;
};

/// The start of each command's record.
struct command_header {
  std::uint64_t opcode;
  std::uint32_t library;       ///< library_code of the actor that serves it
  std::uint32_t generation;    ///< of the device when the request was checked, or found valid for a later one
  std::uint64_t reports_seen;  ///< failures that the caller knew when the request was checked
  std::uint32_t segments;      ///< memory messages that the worker must carry out first
  std::uint8_t access_count;   ///< accesses that follow, or `listed_accesses`
  command_flags flags;
  std::uint16_t payload_bytes;
};
static_assert(sizeof(command_header) == 32 && sizeof(memory_access) == 24);

/// Returns how many accesses the record itself holds.
constexpr std::size_t accesses_in_record(const command_header& head) noexcept {
  return head.access_count == listed_accesses ? 1 : head.access_count;
}
constexpr std::size_t bytes_before_payload(std::size_t accesses) noexcept {
  return sizeof(command_header) + accesses * sizeof(memory_access);
}
inline constexpr std::size_t record_bytes = (bytes_before_payload(max_operands) + max_payload_bytes + 63) / 64 * 64;

/// Writes a command's record up to its payload, and returns the place of the payload. `access_at(i)` returns the i-th
/// access; with `listed_accesses` there is one, access_list::in_record().
template <class AccessAt>
[[gnu::always_inline]] inline std::byte* write_command(std::byte* record, const command_header& head,
                                                       AccessAt&& access_at) noexcept {
  // Field by field, because copying the whole would wait for the stores that have made it: see by_itself.
  auto* const to = new (record) command_header;
  to->opcode = head.opcode, to->library = head.library, to->generation = head.generation;
  to->reports_seen = head.reports_seen, to->segments = head.segments;
  to->access_count = head.access_count, to->flags = head.flags, to->payload_bytes = head.payload_bytes;
  std::byte* at = record + sizeof head;
  for (std::size_t i = 0; i < accesses_in_record(head); ++i, at += sizeof(memory_access)) {
    const memory_access& access = access_at(i);
    const auto put = [&at](std::size_t i, std::uint64_t word) {
      std::memcpy(at + i * sizeof word, &word, sizeof word);
    };
    put(0, by_itself(access.begin)), put(1, by_itself(access.end)), put(2, static_cast<std::uint64_t>(access.mode));
  }
  return at;
}
/// Makes the written record of a refused request touch nothing and run alone.
void disarm_command(std::byte* record) noexcept;
/// Sets the generation of a command that a later worker must run.
void set_generation(std::byte* record, std::uint32_t generation) noexcept;

/// Read back what `write_command` has written, for the side that wrote it.
command_header header_of(std::span<const std::byte> record) noexcept;
std::span<const std::byte> payload_of(std::span<const std::byte> record) noexcept;

/// The parts of a command's record.
struct parsed_command {
  command_header head;
  std::span<const std::byte> accesses;  ///< those in the record
  std::optional<access_list> list;      ///< where they are instead
  std::span<const std::byte> payload;
};

/// Returns nothing if the bytes cannot be a command. Never reads outside them. The worker trusts the application, but a
/// damaged record must end in a clear error and not in a wild access.
std::optional<parsed_command> parse_command(std::span<const std::byte> record) noexcept;

}  // namespace troupe::protocol
