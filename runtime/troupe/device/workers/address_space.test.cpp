// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <troupe/device/workers/address_space.hpp>

namespace troupe {
namespace {

TEST(address_space, takes_the_lowest_range_that_fits) {
  address_space a(1000, 100);
  EXPECT_EQ(a.take(60), 1000u);
  EXPECT_EQ(a.take(30), 1060u);
  EXPECT_EQ(a.take(20), std::nullopt);
  a.give_back(1000, 60);
  EXPECT_EQ(a.take(10), 1000u);
}

TEST(address_space, joins_a_freed_range_with_its_neighbors_on_both_sides) {
  address_space a(0, 300);
  const auto x = a.take(100), y = a.take(100), z = a.take(100);
  a.give_back(*x, 100);
  a.give_back(*z, 100);
  EXPECT_EQ(a.take(101), std::nullopt);
  a.give_back(*y, 100);
  EXPECT_EQ(a.take(300), 0u);
}

TEST(address_space, has_no_range_if_it_is_empty) { EXPECT_EQ(address_space().take(1), std::nullopt); }

TEST(address_space, neither_loses_nor_duplicates_addresses_in_random_use) {
  const char* set = std::getenv("TROUPE_SEED");
  const std::uint64_t seed = set != nullptr ? std::strtoull(set, nullptr, 0) : 20261122;
  SCOPED_TRACE("TROUPE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr std::uint64_t size = 500;
  address_space a(0, size);
  std::vector<int> owner(size, 0);  // a simple model: the owner of each address
  struct taken {
    std::uint64_t at, bytes;
  };
  std::vector<taken> live;
  for (int i = 1; i < 20'000; ++i) {
    if (random() % 2 == 0 && !live.empty()) {
      const std::size_t k = random() % live.size();
      a.give_back(live[k].at, live[k].bytes);
      std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(live[k].at), live[k].bytes, 0);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
      continue;
    }
    const std::uint64_t bytes = 1 + random() % 60;
    std::uint64_t run = 0;
    std::optional<std::uint64_t> expected;
    for (std::uint64_t at = 0; at < size && !expected; ++at) {
      run = owner[at] == 0 ? run + 1 : 0;
      if (run == bytes) expected = at + 1 - bytes;
    }
    const auto got = a.take(bytes);
    ASSERT_EQ(got, expected) << "step " << i;
    if (!got) continue;
    std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(*got), bytes, i);
    live.push_back({*got, bytes});
  }
}

}  // namespace
}  // namespace troupe
