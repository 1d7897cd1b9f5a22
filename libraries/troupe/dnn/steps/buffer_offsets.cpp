// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/steps/buffer_offsets.hpp>

namespace troupe::dnn {

std::vector<std::uint64_t> buffer_offsets(std::span<const buffer_use> buffers, std::uint64_t& total_bytes) {
  std::vector<std::uint64_t> offsets(buffers.size());
  total_bytes = 0;
  std::vector<std::size_t> beside;  // earlier buffers that are used at the same time, by offset
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    beside.clear();
    for (std::size_t k = 0; k < i; ++k)
      if (buffers[k].first <= buffers[i].last && buffers[i].first <= buffers[k].last) beside.push_back(k);
    std::ranges::sort(beside, {}, [&](std::size_t k) { return offsets[k]; });
    std::uint64_t at = 0;
    for (const std::size_t k : beside) {
      if (at + buffers[i].bytes <= offsets[k]) break;
      at = std::max(at, offsets[k] + buffers[k].bytes);
    }
    offsets[i] = at;
    total_bytes = std::max(total_bytes, at + buffers[i].bytes);
  }
  return offsets;
}

}  // namespace troupe::dnn
