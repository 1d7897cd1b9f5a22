// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe {

/// Allocates and frees address ranges for segments. Adjacent free ranges are joined. Meant for few, large ranges: every
/// call takes time proportional to their number. Not thread-safe.
class address_space {
 public:
  address_space() = default;
  address_space(std::uint64_t begin, std::uint64_t bytes) { give_back(begin, bytes); }

  /// Takes the lowest free range of this size; returns nothing if there is none.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  void give_back(std::uint64_t address, std::uint64_t bytes);

 private:
  struct range {
    std::uint64_t begin, end;
  };
  std::vector<range> free_;  // by address
};

}  // namespace troupe
