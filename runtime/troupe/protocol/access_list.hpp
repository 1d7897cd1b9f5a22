// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <troupe/request/block.hpp>

namespace troupe::protocol {

/// Returns true if the bytes are an array of accesses with valid modes, none of which ends before it begins.
bool are_accesses(std::span<const std::byte> bytes) noexcept;

/// The accesses of a request that has more of them than fit its record, as a list in host memory. The record then holds
/// the list's address and length.
struct access_list {
  static constexpr std::uint64_t most = 1 << 20;

  std::uint64_t address = 0;  ///< the list's address in the worker
  std::uint64_t count = 0;

  static constexpr std::size_t bytes_for(std::size_t count) noexcept { return count * sizeof(memory_access); }
  /// Writes the list to `place`. `access_at(i)` returns access number i.
  template <class AccessAt>
  static void write(std::byte* place, std::size_t count, AccessAt&& access_at) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const memory_access& access = access_at(i);
      std::memcpy(place + bytes_for(i), &access, sizeof access);
    }
  }
  /// Returns the address and length in the form of an access, as the record holds them.
  memory_access in_record() const noexcept { return {.begin = address, .end = count}; }

  /// Reads what `in_record` returned. Returns nullopt if it cannot be the address and length of a list.
  static std::optional<access_list> from_record(std::span<const std::byte> access) noexcept;
  /// Returns true if all of the list is between these addresses. The caller passes those of the application's memory.
  bool is_within(std::uint64_t begin, std::uint64_t end) const noexcept {
    return address >= begin && address <= end && bytes_for(count) <= end - address;
  }
  /// Reads the list in place. Returns nullopt if it holds invalid accesses. Precondition: the memory is mapped.
  std::optional<std::span<const memory_access>> read() const noexcept;

  bool operator==(const access_list&) const = default;
};

}  // namespace troupe::protocol
