// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <troupe/base/restart_intensity.hpp>

namespace troupe {
namespace {

time_span window(std::int64_t ns) { return time_span(std::chrono::nanoseconds(ns)); }

TEST(restart_intensity, admits_the_given_number_of_restarts_within_the_window) {
  restart_intensity three(3, window(60));
  EXPECT_TRUE(three.admit(0));
  EXPECT_TRUE(three.admit(10));
  EXPECT_TRUE(three.admit(20));
  EXPECT_FALSE(three.admit(59));
  EXPECT_EQ(three.recent(), 4u);
}

TEST(restart_intensity, forgets_restarts_that_are_as_old_as_the_window) {
  restart_intensity three(3, window(60));
  for (const std::int64_t t : {0, 10, 20}) EXPECT_TRUE(three.admit(t));
  EXPECT_TRUE(three.admit(60));
  EXPECT_FALSE(three.admit(61));
}

TEST(restart_intensity, never_forgets_a_restart_if_the_window_is_unlimited) {
  restart_intensity once(1, time_span::for_ever());
  EXPECT_TRUE(once.admit(0));
  EXPECT_FALSE(once.admit(INT64_MAX - 1));
}

TEST(restart_intensity, starts_from_zero_after_forget) {
  restart_intensity once(1, window(60));
  EXPECT_TRUE(once.admit(0));
  once.forget();
  EXPECT_TRUE(once.admit(1));
}

TEST(restart_intensity, admits_none_if_the_limit_is_0) { EXPECT_FALSE(restart_intensity(0, window(60)).admit(5)); }

TEST(restart_intensity, agrees_with_a_plain_count_at_random_times) {
  std::uint64_t seed = 12345;
  for (int run = 0; run < 200; ++run) {
    const unsigned limit = run % 5;
    const std::int64_t period = 1 + run % 40;
    restart_intensity tested(limit, window(period));
    std::vector<std::int64_t> all;
    std::int64_t now = 0;
    for (int i = 0; i < 50; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      now += static_cast<std::int64_t>((seed >> 33) % 20);
      all.push_back(now);
      const auto within = std::count_if(all.begin(), all.end(), [&](std::int64_t t) { return now - t < period; });
      ASSERT_EQ(tested.admit(now), within <= static_cast<std::ptrdiff_t>(limit)) << "run " << run << " step " << i;
    }
  }
}

}  // namespace
}  // namespace troupe
