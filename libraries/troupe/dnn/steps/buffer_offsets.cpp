// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/steps/buffer_offsets.hpp>

namespace troupe::dnn {

std::vector<std::uint64_t> places_of(std::span<const used_bytes> buffers, std::uint64_t& all) {
  std::vector<std::uint64_t> places(buffers.size());
  all = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::uint64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < i; ++k) {
        const bool together = buffers[k].first <= buffers[i].last && buffers[i].first <= buffers[k].last;
        if (together && at < places[k] + buffers[k].bytes && places[k] < at + buffers[i].bytes)
          at = places[k] + buffers[k].bytes, moved = true;
      }
    }
    places[i] = at;
    all = std::max(all, at + buffers[i].bytes);
  }
  return places;
}

}  // namespace troupe::dnn
