// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe {

/// Allocates and frees address ranges for segments. Joins adjacent free ranges. For few, large ranges: each call takes
/// time proportional to their number. Not thread-safe.
class address_space {
 public:
  address_space() = default;
  address_space(std::uint64_t begin, std::uint64_t bytes) { give_back(begin, bytes); }

  /// Takes `bytes` of the lowest free range that is large enough; returns nullopt if there is none.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  void give_back(std::uint64_t address, std::uint64_t bytes);

 private:
  struct range {
    std::uint64_t begin, end;
  };
  std::vector<range> free_;  // ordered by address
};

}  // namespace troupe
