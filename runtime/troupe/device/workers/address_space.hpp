// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe {

/// Hands out addresses for segments and takes them back; neighbours that are free become one range. For few and large
/// ranges: everything takes time in proportion to their number. Not thread safe.
class address_space {
 public:
  address_space() = default;
  address_space(std::uint64_t begin, std::uint64_t bytes) { give_back(begin, bytes); }

  /// The lowest place of this size.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  void give_back(std::uint64_t address, std::uint64_t bytes);

 private:
  struct range {
    std::uint64_t begin, end;
  };
  std::vector<range> free_;  // by address
};

}  // namespace troupe
