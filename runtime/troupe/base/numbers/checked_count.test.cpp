// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <troupe/base/numbers/checked_count.hpp>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint64_t most = (std::uint64_t{1} << 47) - 1;
constexpr std::uint64_t counts[] = {0, 1, 2, 3, 100, 65'535, 65'536, 1'000'000'007, most - 1, most};

TEST(checked_count, holds_a_count) {
  checked_count c;
  EXPECT_EQ(c.load(), 0u);
  for (const std::uint64_t n : counts) {
    c.store(n);
    EXPECT_EQ(c.load(), n);
    EXPECT_TRUE(c.reaches(n));
    EXPECT_FALSE(c.reaches(n + 1));
  }
}

TEST(checked_count, has_words_that_compare_like_counts) {
  for (std::size_t i = 1; i < std::size(counts); ++i)
    EXPECT_LT(static_cast<std::int64_t>(checked_count::word_of(counts[i - 1])),
              static_cast<std::int64_t>(checked_count::word_of(counts[i])));
}

TEST(checked_count, words_of_zeros_of_ones_or_with_a_flipped_bit_are_damaged) {
  EXPECT_EQ(checked_count::count_of(0), checked_count::damaged);
  EXPECT_EQ(checked_count::count_of(UINT64_MAX), checked_count::damaged);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> tried(std::begin(counts), std::end(counts));
  for (int i = 0; i < 100'000; ++i) tried.push_back(random() & most);
  for (const std::uint64_t n : tried)
    for (int bit = 0; bit < 64; ++bit)
      ASSERT_EQ(checked_count::count_of(checked_count::word_of(n) ^ std::uint64_t{1} << bit), checked_count::damaged)
          << "bit " << bit << " of the word of " << n;
}

TEST(checked_count, words_of_one_repeated_byte_are_damaged) {
  for (std::uint64_t byte = 0; byte < 256; ++byte)
    EXPECT_EQ(checked_count::count_of(byte * 0x0101010101010101u), checked_count::damaged) << byte;
}

TEST(checked_count, a_damaged_word_reaches_no_count) {
  checked_count c;
  c.store(5);
  for (const std::uint64_t word : {std::uint64_t{0}, UINT64_MAX, checked_count::word_of(5) ^ 1u << 20}) {
    c.word().store(word);
    EXPECT_FALSE(c.reaches(0)) << word;
    EXPECT_FALSE(c.reaches(5)) << word;
  }
}

}  // namespace
}  // namespace troupe
