// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/base/result.hpp>
#include <troupe/channel/memory_file.hpp>
#include <vector>

/// The list of a worker's read-only ranges, in a file because it may not fit a message.
namespace troupe::protocol {

struct protected_place {
  std::uint64_t address, bytes;
  bool operator==(const protected_place&) const = default;
};

result<memory_file> list_of(std::span<const protected_place> places);
/// Returns the list in the first `bytes` of the file. Fails if `bytes` is no multiple of an entry's size or exceeds the
/// file.
result<std::vector<protected_place>> parse_list(const memory_file& list, std::uint64_t bytes);

}  // namespace troupe::protocol
