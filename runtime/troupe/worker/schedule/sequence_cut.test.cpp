// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <troupe/worker/schedule/sequence_cut.hpp>
#include <utility>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint32_t most = 32;

// The position in the sequence at which each call begins, and the number of its operations.
using calls = std::vector<std::pair<std::size_t, std::uint32_t>>;

// Cuts a sequence that is repeated without end, beginning at one of its positions.
calls cut(const std::vector<std::uint64_t>& keys, std::size_t start, std::size_t how_many) {
  sequence_cut c;
  calls out;
  std::size_t first = start;
  std::uint32_t count = 0;
  for (std::size_t i = start; out.size() < how_many; ++i) {
    c.note(keys[i % keys.size()], ++count, most);
    if (count < most) continue;
    const std::uint32_t taken = c.place(count);
    out.emplace_back(first % keys.size(), taken);
    first += taken;
    count -= taken;
    c.begin();
  }
  return out;
}

std::vector<std::uint64_t> sequence_of(std::size_t length, std::size_t kinds) {
  std::mt19937_64 random(length);
  std::vector<std::uint64_t> kind(kinds), out;
  for (std::uint64_t& k : kind) k = random();
  for (std::size_t i = 0; i < length; ++i) out.push_back(kind[random() % kinds]);
  return out;
}

TEST(sequences, are_cut_into_the_same_few_calls_whenever_they_repeat) {
  for (const std::size_t length : {2u, 3u, 10u, 17u, 33u, 64u, 100u, 200u})
    for (const std::size_t kinds : {4u, 1000u}) {
      const auto keys = sequence_of(length, kinds);
      std::set<std::pair<std::size_t, std::uint32_t>> different;
      for (std::size_t start = 0; start < length; ++start) {
        const calls all = cut(keys, start, 40);
        different.insert(all.begin() + 20, all.end());
      }
      EXPECT_LE(different.size(), length / 20 + 3) << length << " of " << kinds;
    }
}

TEST(sequences, are_cut_into_full_calls_if_all_operations_are_of_one_kind) {
  EXPECT_EQ(cut({7}, 0, 3), (calls{{0, most}, {0, most}, {0, most}}));
}

TEST(sequences, are_cut_into_calls_that_are_at_least_half_full) {
  for (const auto& [at, count] : cut(sequence_of(500, 8), 3, 100)) {
    EXPECT_GT(count, most / 2);
    EXPECT_LE(count, most);
  }
}

TEST(sequences, are_not_cut_if_they_have_few_operations) {
  sequence_cut c;
  for (std::uint32_t i = 1; i <= most / 2; ++i) c.note(i * 1234567, i, most);
  EXPECT_EQ(c.place(most / 2), most / 2);
}

}  // namespace
}  // namespace troupe
