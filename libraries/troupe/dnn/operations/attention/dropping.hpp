// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/random/philox.hpp>

namespace troupe::dnn {

/// Decides which attention weights dropout keeps: those whose random word is at least `threshold`. Four neighboring
/// keys share a counter: (key / 4, query, head of the batch, offset). key % 4 selects one of the counter's words.
struct attention_dropping {
  std::uint64_t seed;
  std::uint32_t offset, threshold;

  TROUPE_HOST_DEVICE static constexpr attention_dropping of(double probability, std::uint64_t seed,
                                                            std::uint64_t offset) noexcept {
    return {seed, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(probability * 4294967296.0)};
  }
  TROUPE_HOST_DEVICE constexpr random_words words(std::int64_t head_of_batch, std::int64_t query,
                                                  std::int64_t key) const noexcept {
    return philox({{static_cast<std::uint32_t>(key / 4), static_cast<std::uint32_t>(query),
                    static_cast<std::uint32_t>(head_of_batch), offset}},
                  seed);
  }
  TROUPE_HOST_DEVICE constexpr bool keeps(std::int64_t head_of_batch, std::int64_t query,
                                          std::int64_t key) const noexcept {
    return words(head_of_batch, query, key).word[key % 4] >= threshold;
  }
};

}  // namespace troupe::dnn
