// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/base/result.hpp>
#include <troupe/channel/memory_file.hpp>
#include <vector>

/// The places that are read-only, as a list in a file: there may be more of them than fit any message.
namespace troupe::protocol {

struct protected_place {
  std::uint64_t address, bytes;
  bool operator==(const protected_place&) const = default;
};

result<memory_file> list_of(std::span<const protected_place> places);
/// The first `bytes` of the file, which has whole pages. Fails when they are no list, or more than there are.
result<std::vector<protected_place>> parse_list(const memory_file& list, std::uint64_t bytes);

}  // namespace troupe::protocol
