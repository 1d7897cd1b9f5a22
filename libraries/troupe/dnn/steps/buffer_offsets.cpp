// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/steps/buffer_offsets.hpp>

namespace troupe::dnn {

std::vector<std::uint64_t> buffer_offsets(std::span<const buffer_use> buffers, std::uint64_t& total_bytes) {
  std::vector<std::uint64_t> offsets(buffers.size());
  total_bytes = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::uint64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < i; ++k) {
        const bool overlap = buffers[k].first <= buffers[i].last && buffers[i].first <= buffers[k].last;
        if (overlap && at < offsets[k] + buffers[k].bytes && offsets[k] < at + buffers[i].bytes)
          at = offsets[k] + buffers[k].bytes, moved = true;
      }
    }
    offsets[i] = at;
    total_bytes = std::max(total_bytes, at + buffers[i].bytes);
  }
  return offsets;
}

}  // namespace troupe::dnn
