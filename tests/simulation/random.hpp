// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::simulation {

/// A stream of random numbers that depends only on its seed (splitmix64).
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) noexcept : state_(seed) {}
  /// The stream of a seed for one purpose, given by a number.
  random_bits(std::uint64_t seed, std::uint64_t number) noexcept
      : state_(random_bits(seed ^ random_bits(number).next()).next()) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint64_t n) noexcept { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }
  std::uint32_t between(std::uint32_t least, std::uint32_t most) noexcept { return least + below(most - least + 1); }
  bool percent(std::uint32_t p) noexcept { return below(100) < p; }

 private:
  std::uint64_t state_;
};

}  // namespace troupe::simulation
