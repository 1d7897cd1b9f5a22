// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe {

/// The key of a content_hash. A client that does not know the key cannot construct two contents with the same hash.
struct hash_key {
  std::array<std::uint64_t, 8> words;
  static hash_key random();
};

/// A keyed 64-bit hash of content. Two different contents collide with a probability of 1 in 2^64.
class content_hash {
 public:
  explicit content_hash(const hash_key& key) noexcept : key_(key), value_(key.words[0]) {}

  void add(std::uint64_t word) noexcept { value_ = folded_product(value_ ^ word, key_.words[1]); }
  void add(std::span<const std::byte> bytes) noexcept;
  std::uint64_t value() const noexcept { return folded_product(value_ ^ key_.words[2], key_.words[3]); }

 private:
  // Uses both halves of the product, so that every bit of both factors affects the result.
  static std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  const hash_key& key_;
  std::uint64_t value_;
};

}  // namespace troupe
