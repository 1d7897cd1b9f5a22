// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/workers/address_space.hpp>

namespace troupe {

std::optional<std::uint64_t> address_space::take(std::uint64_t bytes) {
  const auto fits =
      std::find_if(free_.begin(), free_.end(), [bytes](const range& r) { return r.end - r.begin >= bytes; });
  if (fits == free_.end()) return {};
  const std::uint64_t address = fits->begin;
  fits->begin += bytes;
  if (fits->begin == fits->end) free_.erase(fits);
  return address;
}

void address_space::give_back(std::uint64_t address, std::uint64_t bytes) {
  auto after = std::find_if(free_.begin(), free_.end(), [address](const range& r) { return r.begin > address; });
  after = free_.insert(after, {address, address + bytes});
  if (const auto next = after + 1; next != free_.end() && next->begin == after->end) {
    after->end = next->end;
    free_.erase(next);
  }
  if (after != free_.begin() && (after - 1)->end == after->begin) {
    (after - 1)->end = after->end;
    free_.erase(after);
  }
}

}  // namespace troupe
