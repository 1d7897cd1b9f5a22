// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <troupe/graph/internal/stretch_map.hpp>
#include <vector>

namespace troupe::graph {
namespace {

TEST(stretch_map, agrees_with_a_map_of_single_bytes) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    stretch_map<std::vector<unsigned>> map;
    std::array<std::vector<unsigned>, 64> bytes;
    for (unsigned i = 1; i <= 40; ++i) {
      unsigned begin = random() % 65, end = random() % 65;
      if (begin > end) std::swap(begin, end);
      map.visit(begin, end, {}, [&](auto& v) { v.push_back(i); });
      for (unsigned b = begin; b < end; ++b) bytes[b].push_back(i);
    }
    std::uint64_t reached = 0;
    for (const auto& [begin, s] : map.all()) {
      ASSERT_LT(begin, s.end) << "seed " << seed;
      for (; reached < begin; ++reached) EXPECT_TRUE(bytes[reached].empty()) << "byte " << reached << ", seed " << seed;
      ASSERT_EQ(reached, begin) << "seed " << seed;
      for (; reached < s.end; ++reached) EXPECT_EQ(bytes[reached], s.value) << "byte " << reached << ", seed " << seed;
    }
    for (; reached < bytes.size(); ++reached) EXPECT_TRUE(bytes[reached].empty()) << "byte " << reached;
  }
}

TEST(stretch_map, visits_stretches_in_order_and_fills_gaps_with_the_fresh_value) {
  stretch_map<int> map;
  map.visit(10, 20, 1, [](int&) {});
  map.visit(30, 40, 2, [](int&) {});
  std::vector<int> seen;
  map.visit(15, 35, 3, [&](int& v) { seen.push_back(v); });
  EXPECT_EQ(seen, (std::vector<int>{1, 3, 2}));
}

TEST(stretch_map, visits_nothing_in_an_empty_range) {
  stretch_map<int> map;
  map.visit(10, 10, 1, [](int&) { FAIL(); });
  EXPECT_TRUE(map.all().empty());
}

}  // namespace
}  // namespace troupe::graph
