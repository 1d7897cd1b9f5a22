// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/host_device.hpp>

/// The generator Philox4x32-10. Its words depend only on the key and the counter, so they are the same on every engine.
namespace troupe::dnn {

struct random_words {
  std::uint32_t word[4];
};

inline constexpr int philox_rounds = 10;
/// The increments of the key's two words after each round.
inline constexpr std::uint32_t philox_step_low = 0x9E3779B9, philox_step_high = 0xBB67AE85;

TROUPE_HOST_DEVICE constexpr random_words philox_round(const random_words& n, std::uint32_t k,
                                                       std::uint32_t m) noexcept {
  const std::uint64_t p = std::uint64_t{0xD2511F53} * n.word[0], q = std::uint64_t{0xCD9E8D57} * n.word[2];
  return {{static_cast<std::uint32_t>(q >> 32) ^ n.word[1] ^ k, static_cast<std::uint32_t>(q),
           static_cast<std::uint32_t>(p >> 32) ^ n.word[3] ^ m, static_cast<std::uint32_t>(p)}};
}

/// Returns the four words for a counter and a key: Philox4x32-10 of J. Salmon and others, "Parallel random numbers: as
/// easy as 1, 2, 3" (2011).
TROUPE_HOST_DEVICE constexpr random_words philox(random_words n, std::uint64_t key) noexcept {
  auto k = static_cast<std::uint32_t>(key), m = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    n = philox_round(n, k, m);
    k += philox_step_low, m += philox_step_high;
  }
  return n;
}
TROUPE_HOST_DEVICE constexpr random_words philox(std::uint64_t key, std::uint64_t low,
                                                 std::uint64_t high = 0) noexcept {
  return philox({{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                  static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}},
                key);
}

}  // namespace troupe::dnn
