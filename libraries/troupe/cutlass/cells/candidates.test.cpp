// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <troupe/cutlass/cells/candidates.hpp>
#include <vector>

namespace troupe::cutlass {
namespace {

struct part {
  std::int64_t first, steps;
};

// The parts of a tile, as templates/schedule.cuh computes them.
std::vector<part> parts_of(const division& d, std::int64_t tile, std::int64_t steps) {
  const std::int64_t units = d.rest * steps;
  std::vector<part> out;
  for (std::int64_t i = 0; i < d.sharers; ++i) {
    const std::int64_t first = std::max(units * i / d.sharers, tile * steps),
                       end = std::min(units * (i + 1) / d.sharers, (tile + 1) * steps);
    if (first < end) out.push_back({first - tile * steps, end - first});
  }
  return out;
}

TEST(division_of_tiles, has_a_place_for_every_part) {
  for (std::int64_t tiles = 1; tiles < 300; tiles += 7)
    for (const std::int64_t clusters : {1, 2, 66, 132})
      for (const std::int64_t steps : {1, 3, 4, 63, 784})
        for (const int most : {1, 8, 128}) {
          SCOPED_TRACE(testing::Message() << tiles << " tiles of " << steps << " steps, " << clusters << " clusters, "
                                          << most << " may share a tile");
          const division d = divide(tiles, clusters, steps, most);
          ASSERT_EQ(d.whole + d.rest, tiles);
          ASSERT_EQ(d.whole % clusters, 0);
          ASSERT_LT(d.rest, clusters);
          ASSERT_LE(d.sharers, clusters);
          ASSERT_EQ(d.sharers == 0, d.rest == 0);
          for (std::int64_t t = 0; t < d.rest; ++t) {
            const std::vector<part> parts = parts_of(d, t, steps);
            ASSERT_LE(parts.size(), static_cast<std::size_t>(d.parts));
            std::int64_t steps_of_all = 0;
            for (const part& p : parts) steps_of_all += p.steps;
            ASSERT_EQ(steps_of_all, steps);
          }
        }
}

TEST(division_of_tiles, lets_parts_of_all_tiles_begin_at_the_same_terms) {
  for (const std::int64_t tiles : {1, 4, 8, 12, 56, 64}) {
    const division d = divide(tiles, 132, 784, 128);
    ASSERT_TRUE(d.aligned) << tiles;
    EXPECT_GE(d.sharers, 132 * 4 / 5) << tiles;
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::vector<part> parts = parts_of(d, t, 784), first = parts_of(d, 0, 784);
      ASSERT_EQ(parts.size(), static_cast<std::size_t>(d.parts));
      for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].first, first[i].first);
    }
  }
}

TEST(division_of_tiles, lets_no_more_blocks_do_nothing_than_that_is_worth) {
  const division d = divide(100, 132, 784, 8);  // one block for each tile would leave 32 of them idle
  EXPECT_FALSE(d.aligned);
  EXPECT_EQ(d.sharers, 132);
}

}  // namespace
}  // namespace troupe::cutlass
