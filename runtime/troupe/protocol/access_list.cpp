// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/protocol/access_list.hpp>

namespace troupe::protocol {

bool are_accesses(std::span<const std::byte> bytes) noexcept {
  for (; bytes.size() >= sizeof(memory_access); bytes = bytes.subspan(sizeof(memory_access))) {
    // An invalid byte must not become a value of access_mode.
    std::uint64_t begin, end;
    std::uint8_t mode;
    std::memcpy(&begin, bytes.data() + offsetof(memory_access, begin), sizeof begin);
    std::memcpy(&end, bytes.data() + offsetof(memory_access, end), sizeof end);
    std::memcpy(&mode, bytes.data() + offsetof(memory_access, mode), sizeof mode);
    if (mode > static_cast<std::uint8_t>(access_mode::conditional_write) || begin > end) return false;
  }
  return bytes.empty();
}

std::optional<access_list> access_list::from_record(std::span<const std::byte> access) noexcept {
  access_list list;
  std::memcpy(&list.address, access.data() + offsetof(memory_access, begin), sizeof list.address);
  std::memcpy(&list.count, access.data() + offsetof(memory_access, end), sizeof list.count);
  if (list.address % alignof(memory_access) != 0 || list.count > most) return {};
  return list;
}

std::optional<std::span<const memory_access>> access_list::read() const noexcept {
  const auto* const first = reinterpret_cast<const memory_access*>(static_cast<std::uintptr_t>(address));
  const std::span<const memory_access> all(first, static_cast<std::size_t>(count));
  if (!are_accesses(std::as_bytes(all))) return {};
  return all;
}

}  // namespace troupe::protocol
