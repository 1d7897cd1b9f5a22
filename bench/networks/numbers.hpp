// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::bench {

/// Returns numbers, given in row-major order of the axes n, c and the places of an image, with the channels last.
template <class T>
std::vector<T> with_channels_last(const std::vector<float>& from, std::int64_t n, std::int64_t c, std::int64_t places) {
  std::vector<T> out;
  out.reserve(from.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t at = 0; at < places; ++at)
      for (std::int64_t k = 0; k < c; ++k) out.push_back(T(from[static_cast<std::size_t>((i * c + k) * places + at)]));
  return out;
}

/// Lists of numbers for the weights and inputs of a network: the same as in bench/torch_train.py.
class number_lists {
 public:
  /// Returns the next list, of numbers from -limit to limit.
  std::vector<float> next(std::int64_t count, double limit) {
    const std::uint32_t first = made_++ * 1'000'003u;
    std::vector<float> out;
    out.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint32_t h = (first + static_cast<std::uint32_t>(i) + 1) * 2654435761u;
      h ^= h >> 16;
      h *= 2246822519u;
      h ^= h >> 13;
      out.push_back(static_cast<float>((h * 0x1p-31 - 1) * limit));
    }
    return out;
  }

 private:
  std::uint32_t made_ = 0;
};

}  // namespace troupe::bench
