// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/worker/internal/command.hpp>

namespace troupe {

std::optional<parsed_command> parse_command(std::span<const std::byte> record, std::uint32_t capacity) noexcept {
  parsed_command out;
  if (record.size() < sizeof out.head) return {};
  std::memcpy(&out.head, record.data(), sizeof out.head);
  const std::size_t access_bytes = out.head.access_count * sizeof(memory_access);
  if (out.head.slot >= capacity || out.head.access_count > max_operands || out.head.payload_bytes > max_payload_bytes)
    return {};
  if (record.size() < sizeof out.head + access_bytes + out.head.payload_bytes) return {};
  out.accesses = record.subspan(sizeof out.head, access_bytes);
  out.payload = record.subspan(sizeof out.head + access_bytes, out.head.payload_bytes);
  for (std::size_t i = 0; i < out.head.access_count; ++i) {
    // The mode is an enumeration: any other byte must not become one.
    std::uint64_t begin, end;
    std::uint8_t mode;
    const std::byte* at = out.accesses.data() + i * sizeof(memory_access);
    std::memcpy(&begin, at + offsetof(memory_access, begin), sizeof begin);
    std::memcpy(&end, at + offsetof(memory_access, end), sizeof end);
    std::memcpy(&mode, at + offsetof(memory_access, mode), sizeof mode);
    if (mode > static_cast<std::uint8_t>(access_mode::read_write) || begin > end) return {};
  }
  return out;
}

}  // namespace troupe
