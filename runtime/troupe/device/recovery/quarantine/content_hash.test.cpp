// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <set>
#include <troupe/device/recovery/quarantine/content_hash.hpp>
#include <vector>

namespace troupe {
namespace {

std::uint64_t hash_of(const hash_key& key, std::span<const std::byte> bytes) {
  content_hash h(key);
  h.add(bytes);
  return h.value();
}

TEST(content_hash, does_not_depend_on_the_contents_address) {
  const hash_key key = hash_key::random();
  for (const std::size_t size : {0u, 1u, 8u, 63u, 64u, 65u, 1000u}) {
    std::vector<std::byte> here(size + 1), there(size + 1);
    for (std::size_t i = 0; i < size; ++i) here[i] = there[i + 1] = static_cast<std::byte>(7 * i);
    EXPECT_EQ(hash_of(key, std::span(here).first(size)), hash_of(key, std::span(there).subspan(1))) << size;
  }
}

TEST(content_hash, changes_with_any_bit_any_pair_of_float_signs_and_the_length) {
  const hash_key key = hash_key::random();
  std::vector<std::byte> bytes(200);
  std::set<std::uint64_t> seen;
  std::size_t made = 0;
  const auto expect_another = [&](std::span<const std::byte> what) {
    ++made;
    EXPECT_EQ(seen.insert(hash_of(key, what)).second, true) << "content number " << made;
  };
  for (std::size_t n = 0; n <= bytes.size(); ++n) expect_another(std::span(bytes).first(n));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    expect_another(bytes);
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  const auto flip_sign = [&](std::size_t of_float) { bytes[4 * of_float + 3] ^= std::byte{0x80}; };
  for (std::size_t i = 0; i < bytes.size() / 4; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      flip_sign(i), flip_sign(j);
      expect_another(bytes);
      flip_sign(i), flip_sign(j);
    }
}

TEST(content_hash, depends_on_the_order_of_words) {
  const hash_key key = hash_key::random();
  content_hash a(key), b(key);
  a.add(std::uint64_t{1}), a.add(std::uint64_t{2});
  b.add(std::uint64_t{2}), b.add(std::uint64_t{1});
  EXPECT_NE(a.value(), b.value());
}

TEST(content_hash, depends_on_the_key) {
  const std::vector<std::byte> bytes(100);
  EXPECT_NE(hash_of(hash_key::random(), bytes), hash_of(hash_key::random(), bytes));
}

}  // namespace
}  // namespace troupe
