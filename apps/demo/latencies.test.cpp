// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <apps/demo/latencies.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

namespace demo {
namespace {

TEST(latencies, match_percentiles_of_sorted_times_to_one_part_in_64) {
  const char* given = std::getenv("TROUPE_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  SCOPED_TRACE("TROUPE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> time_ns(13, 2);
  latencies all;
  std::vector<double> sorted;
  for (int i = 0; i < 20'000; ++i) {
    const auto ns = static_cast<std::int64_t>(time_ns(random));
    all.add(ns);
    sorted.push_back(static_cast<double>(ns) / 1e9);
  }
  std::sort(sorted.begin(), sorted.end());
  const latency_counts counts(all);
  EXPECT_EQ(counts.total(), sorted.size());
  EXPECT_EQ(counts.longest_seconds(), sorted.back());
  for (const double share : {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double expected = sorted[static_cast<std::size_t>(std::ceil(share * 20'000)) - 1];
    EXPECT_NEAR(counts.seconds_at(share), expected, expected / 64 + 1e-9) << share;
  }
}

TEST(latencies, map_every_time_to_a_bucket_in_ascending_order) {
  std::size_t last = 0;
  for (int bit = 0; bit < 64; ++bit)
    for (const std::uint64_t add : {0u, 1u, 63u}) {
      const std::size_t bucket = latencies::bucket_of((std::uint64_t{1} << bit) + add);
      ASSERT_LT(bucket, latencies::buckets);
      if (add == 0) {
        EXPECT_GE(bucket, last);
        last = bucket;
      }
    }
  EXPECT_LT(latencies::bucket_of(UINT64_MAX), latencies::buckets);
}

TEST(latencies, have_differences_that_contain_the_times_added_in_between) {
  latencies all;
  all.add(1000);
  const latency_counts before(all);
  for (int i = 0; i < 9; ++i) all.add(5000);
  latency_counts between(all);
  between -= before;
  EXPECT_EQ(between.total(), 9u);
  EXPECT_NEAR(between.seconds_at(0.01), 5e-6, 1e-7);
  EXPECT_EQ(latency_counts().seconds_at(0.5), 0);
}

}  // namespace
}  // namespace demo
