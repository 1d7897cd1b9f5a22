// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/base/result.hpp>
#include <troupe/channel/memory_file.hpp>
#include <vector>

/// The read-only places, as a list in a file, because they may be more than fit a message.
namespace troupe::protocol {

struct protected_place {
  std::uint64_t address, bytes;
  bool operator==(const protected_place&) const = default;
};

result<memory_file> list_of(std::span<const protected_place> places);
/// Returns the list in the first `bytes` of the file. Fails if these are not a list, or more than the file holds.
result<std::vector<protected_place>> parse_list(const memory_file& list, std::uint64_t bytes);

}  // namespace troupe::protocol
