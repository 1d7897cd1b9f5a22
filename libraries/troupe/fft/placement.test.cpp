// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <troupe/fft/placement.hpp>

namespace troupe::fft {
namespace {

TEST(fft_placement, is_dense_by_default) {
  const placement p = placement_of({}, {3, 4, 5}, 2);
  EXPECT_EQ(p.stride[0], 20);
  EXPECT_EQ(p.stride[1], 5);
  EXPECT_EQ(p.stride[2], 1);
  EXPECT_EQ(p.distance, 60);
  EXPECT_EQ(p.reach, 120);
  EXPECT_TRUE(p.dense);
  EXPECT_TRUE(p.separated);
}

TEST(fft_placement, can_be_a_part_of_a_larger_array) {
  const placement p = placement_of({.embed = {9, 10}, .stride = 2}, {3, 4}, 2);
  EXPECT_EQ(p.stride[0], 20);
  EXPECT_EQ(p.stride[1], 2);
  EXPECT_EQ(p.distance, 180);
  EXPECT_EQ(p.reach, 180 + 2 * 20 + 3 * 2 + 1);
  EXPECT_FALSE(p.dense);
  EXPECT_TRUE(p.separated);
}

TEST(fft_placement, interleaved_channels_are_dense) {
  const placement p = placement_of({.stride = 3, .distance = 1}, 100, 3);
  EXPECT_EQ(p.reach, 300);
  EXPECT_TRUE(p.dense);
}

TEST(fft_placement, overlapping_windows_are_not_separated) {
  EXPECT_FALSE(placement_of({.distance = 16}, 64, 9).separated);
  EXPECT_TRUE(placement_of({.distance = 16}, 64, 1).separated) << "one window";
}

TEST(fft_placement, beyond_64_bits_is_detected) {
  EXPECT_TRUE(placement_of({.stride = std::int64_t{1} << 62}, 8, 1).reach.overflowed());
  EXPECT_TRUE(placement_of({}, {std::int64_t{1} << 40, std::int64_t{1} << 40}, 1).reach.overflowed());
}

// Compares with counting how many elements each position has.
TEST(fft_placement, is_called_dense_or_separated_as_counting_its_positions_shows) {
  std::mt19937 random(1);
  const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int separated = 0, shared = 0;
  for (int round = 0; round < 3000; ++round) {
    const shape n{between(1, 4), between(1, 4)};
    const std::int64_t batch = between(1, 3);
    layout l{.embed = {n[0] + extent(between(0, 2)), n[1] + extent(between(0, 2))}, .stride = between(1, 4)};
    if (between(0, 1) == 0) l.distance = between(1, 40);
    const placement p = placement_of(l, n, batch);
    std::set<std::int64_t> places;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < n[0].value(); ++i)
        for (std::int64_t j = 0; j < n[1].value(); ++j)
          places.insert(b * p.distance.value() + i * p.stride[0].value() + j * p.stride[1].value());
    const auto count = static_cast<std::size_t>((n.count() * batch).value());
    ASSERT_EQ(*places.rbegin() + 1, p.reach.value()) << to_string(l);
    if (p.separated) {
      ASSERT_EQ(places.size(), count) << to_string(l) << " of " << to_string(n) << " times " << batch;
    }
    ASSERT_EQ(p.dense, p.separated && static_cast<std::int64_t>(count) == p.reach.value());
    ++(p.separated ? separated : shared);
  }
  EXPECT_GT(separated, 500);
  EXPECT_GT(shared, 100);
}

TEST(fft_placement, allows_a_transform_in_place_only_if_rows_begin_at_the_same_addresses) {
  const shape n{6, 10};
  const placement complex = placement_of({}, half_of(n), 2);
  EXPECT_TRUE(in_place(placement_of({.embed = padded(n)}, n, 2), complex, 2));
  EXPECT_FALSE(in_place(placement_of({}, n, 2), complex, 2)) << "rows have no padding";
  EXPECT_FALSE(in_place(placement_of({.embed = padded(n), .distance = 73}, n, 2), complex, 2));
  EXPECT_TRUE(in_place(placement_of({.embed = padded(n), .distance = 73}, n, 1), placement_of({}, half_of(n), 1), 2));
  EXPECT_FALSE(in_place(placement_of({.embed = padded(n), .stride = 2}, n, 1), placement_of({}, half_of(n), 1), 2));
  EXPECT_TRUE(in_place(complex, complex, 1));
  EXPECT_FALSE(in_place(complex, placement_of({.stride = 2}, half_of(n), 2), 1));
}

}  // namespace
}  // namespace troupe::fft
