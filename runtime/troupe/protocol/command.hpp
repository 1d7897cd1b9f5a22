// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <troupe/base/processor/by_itself.hpp>
#include <troupe/protocol/access_list.hpp>
#include <troupe/request/block.hpp>
#include <troupe/request/lane_policy.hpp>
#include <troupe/request/request.hpp>

/// A command: the record of a request in the mailbox, which the application writes and a worker reads. It consists of a
/// header, the request's accesses, and the encoded request.
namespace troupe::protocol {

/// The value of access_count if a request has more accesses than fit the record. The record then holds an
/// `access_list`.
inline constexpr std::uint8_t listed_accesses = 255;

/// Properties of a request: `alone`: it must not be coalesced; `bound`: it touches memory that only the worker of its
/// generation has; `timed`: the application watches how long it runs; and its priority.
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

/// The header of a command.
struct command_header {
  std::uint64_t opcode;
  std::uint32_t library;       ///< library_code of the library actor that serves the request
  std::uint32_t generation;    ///< the device's generation when the request was last found valid
  std::uint64_t reports_seen;  ///< number of failures that the caller knew when the request was checked
  std::uint32_t segments;      ///< number of memory messages that the worker must carry out first
  std::uint8_t access_count;   ///< number of accesses that follow, or `listed_accesses`
  command_flags flags;
  std::uint16_t payload_bytes;
};
static_assert(sizeof(command_header) == 32 && sizeof(memory_access) == 24);

/// Returns the number of accesses in the record itself.
constexpr std::size_t accesses_in_record(const command_header& head) noexcept {
  return head.access_count == listed_accesses ? 1 : head.access_count;
}
constexpr std::size_t bytes_before_payload(std::size_t accesses) noexcept {
  return sizeof(command_header) + accesses * sizeof(memory_access);
}
inline constexpr std::size_t record_bytes = (bytes_before_payload(max_operands) + max_payload_bytes + 63) / 64 * 64;

/// Writes a command up to its payload, and returns the address for the payload. `access_at(i)` returns access number i;
/// with `listed_accesses` there is only access 0, which is access_list::in_record().
template <class AccessAt>
[[gnu::always_inline]] inline std::byte* write_command(std::byte* record, const command_header& head,
                                                       AccessAt&& access_at) noexcept {
  // Copied field by field: a copy of the whole struct would wait for the stores that have just filled it, see
  // by_itself.
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
/// Changes the command of a request that was refused after it was written, so that it touches nothing and runs alone.
void disarm_command(std::byte* record) noexcept;
/// Sets the generation of a command that a later worker is to run.
void set_generation(std::byte* record, std::uint32_t generation) noexcept;

/// Return parts of a command that this process has written.
command_header header_of(std::span<const std::byte> record) noexcept;
std::span<const std::byte> payload_of(std::span<const std::byte> record) noexcept;

/// The parts of a command.
struct parsed_command {
  command_header head;
  std::span<const std::byte> accesses;  ///< the accesses in the record
  std::optional<access_list> list;      ///< the list that holds the accesses instead
  std::span<const std::byte> payload;
};

/// Splits a command into its parts. Returns nullopt if the bytes cannot be a command. Never reads outside of them. The
/// worker trusts the application, but a damaged record must cause a clear error instead of a wild access.
std::optional<parsed_command> parse_command(std::span<const std::byte> record) noexcept;

}  // namespace troupe::protocol
