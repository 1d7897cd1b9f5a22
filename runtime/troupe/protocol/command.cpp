// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/protocol/command.hpp>

namespace troupe::protocol {

void disarm_command(std::byte* record) noexcept {
  command_header head = header_of({record, sizeof head});
  head.access_count = 0;
  head.flags = {true, priority::normal};
  std::memcpy(record, &head, sizeof head);
}

void set_generation(std::byte* record, std::uint32_t generation) noexcept {
  std::memcpy(record + offsetof(command_header, generation), &generation, sizeof generation);
}

command_header header_of(std::span<const std::byte> record) noexcept {
  command_header head;
  std::memcpy(&head, record.data(), sizeof head);
  return head;
}

std::span<const std::byte> payload_of(std::span<const std::byte> record) noexcept {
  const command_header head = header_of(record);
  return record.subspan(bytes_before_payload(accesses_in_record(head)), head.payload_bytes);
}

std::optional<parsed_command> parse_command(std::span<const std::byte> record) noexcept {
  parsed_command out;
  if (record.size() < sizeof out.head) return {};
  std::memcpy(&out.head, record.data(), sizeof out.head);
  const bool listed = out.head.access_count == listed_accesses;
  const std::size_t access_bytes = accesses_in_record(out.head) * sizeof(memory_access);
  if ((!listed && out.head.access_count > max_operands) || out.head.payload_bytes > max_payload_bytes ||
      !out.head.flags.sound())
    return {};
  if (record.size() < sizeof out.head + access_bytes + out.head.payload_bytes) return {};
  out.accesses = record.subspan(sizeof out.head, access_bytes);
  out.payload = record.subspan(sizeof out.head + access_bytes, out.head.payload_bytes);
  if (listed) {
    out.list = access_list::from_record(out.accesses);
    if (!out.list) return {};
    out.accesses = {};
    return out;
  }
  if (!are_accesses(out.accesses)) return {};
  return out;
}

}  // namespace troupe::protocol
