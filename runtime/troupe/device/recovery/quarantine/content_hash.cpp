// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <random>
#include <troupe/device/recovery/quarantine/content_hash.hpp>

namespace troupe {

hash_key hash_key::random() {
  std::random_device source;
  hash_key key{};
  for (std::uint64_t& word : key.words) word = (std::uint64_t{source()} << 32 | source()) | 1;
  return key;
}

// Keeps four sums, which are computed in parallel: a single sum would wait for each of its products.
void content_hash::add(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t sums = 4, words_in_a_step = 2 * sums;
  std::array<std::uint64_t, sums> sum;
  for (std::size_t i = 0; i < sums; ++i) sum[i] = key_.words[sums + i];
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  add(left);
  while (left != 0) {
    std::array<std::uint64_t, words_in_a_step> step{};  // the last step is padded with zeros
    const std::size_t now = left < sizeof step ? left : sizeof step;
    std::memcpy(step.data(), at, now);
    for (std::size_t i = 0; i < sums; ++i)
      sum[i] = folded_product(step[2 * i] ^ key_.words[i], step[2 * i + 1] ^ sum[i]);
    at += now;
    left -= now;
  }
  for (const std::uint64_t s : sum) add(s);
}

}  // namespace troupe
