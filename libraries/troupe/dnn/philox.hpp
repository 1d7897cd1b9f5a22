// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/epilogue/everywhere.hpp>

/// Random numbers that are a function of a counter: the same on every engine, in any order.
namespace troupe::dnn {

struct random_words {
  std::uint32_t word[4];
};

/// Philox4x32-10 of J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011).
TROUPE_EVERYWHERE constexpr random_words philox(random_words counter, std::uint64_t key) noexcept {
  auto first = static_cast<std::uint32_t>(key), second = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter.word[0],
                        b = std::uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ first, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ second, static_cast<std::uint32_t>(a)}};
    first += 0x9E3779B9, second += 0xBB67AE85;
  }
  return counter;
}

/// Which weights of an attention are kept. Four neighbouring keys share a counter: it is key / 4, query, the head among
/// all of the batch, and the offset; its word is key % 4.
struct attention_dropping {
  std::uint64_t seed;
  std::uint32_t offset, threshold;

  TROUPE_EVERYWHERE static constexpr attention_dropping of(double probability, std::uint64_t seed,
                                                           std::uint64_t offset) noexcept {
    return {seed, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(probability * 4294967296.0)};
  }
  TROUPE_EVERYWHERE constexpr random_words words(std::int64_t head_of_batch, std::int64_t query,
                                                 std::int64_t key) const noexcept {
    return philox({{static_cast<std::uint32_t>(key / 4), static_cast<std::uint32_t>(query),
                    static_cast<std::uint32_t>(head_of_batch), offset}},
                  seed);
  }
  TROUPE_EVERYWHERE constexpr bool keeps(std::int64_t head_of_batch, std::int64_t query,
                                         std::int64_t key) const noexcept {
    return words(head_of_batch, query, key).word[key % 4] >= threshold;
  }
};

}  // namespace troupe::dnn
