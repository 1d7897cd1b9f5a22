// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <troupe/jit/jit.hpp>
#include <vector>

namespace troupe::bench {

/// Returns random values from -1 to 1.
inline std::vector<float> random_floats(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& v : out) v = value(random);
  return out;
}

inline buffer<float> uploaded(const device& gpu, const std::vector<float>& values) {
  auto b = gpu.alloc<float>(values.size());
  gpu.upload(b, values);
  return b;
}

}  // namespace troupe::bench
