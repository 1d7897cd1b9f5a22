// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::bench {

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
