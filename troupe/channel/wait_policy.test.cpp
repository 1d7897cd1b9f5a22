// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/channel/wait_policy.hpp>

namespace troupe {
namespace {

constexpr auto never = [] { return false; };

TEST(adaptive_wait, one_core_never_spins) {
  for (const wait_policy policy : {wait_policy::latency, wait_policy::balanced, wait_policy::efficient}) {
    adaptive_wait wait(policy, 1);
    EXPECT_EQ(wait.budget_ns(), 0) << to_string(policy);
    int looks = 0;
    EXPECT_FALSE(wait.spin([&] { return ++looks, false; }));
    EXPECT_EQ(looks, 1);
  }
}

TEST(adaptive_wait, efficient_looks_once_however_many_cores_there_are) {
  adaptive_wait wait(wait_policy::efficient, 64);
  EXPECT_EQ(wait.budget_ns(), 0);
  EXPECT_TRUE(wait.spin([] { return true; }));
  EXPECT_FALSE(wait.spin(never));
}

TEST(adaptive_wait, spinning_ends_with_the_event_or_with_the_budget) {
  adaptive_wait wait(wait_policy::latency, 2);
  int looks = 0;
  EXPECT_TRUE(wait.spin([&] { return ++looks == 5; }));
  EXPECT_EQ(looks, 5);
  const std::int64_t start = now_ns();
  EXPECT_FALSE(wait.spin(never));
  EXPECT_GE(now_ns() - start, wait.budget_ns());
}

TEST(adaptive_wait, balanced_spins_less_while_it_does_not_pay_and_more_once_it_does) {
  adaptive_wait wait(wait_policy::balanced, 2);
  const std::int64_t full = wait.budget_ns();
  for (int i = 0; i < 10; ++i) (void)wait.spin(never);
  const std::int64_t least = wait.budget_ns();
  EXPECT_LT(least, full / 8);
  EXPECT_GT(least, 0) << "or it would never find out that spinning pays again";
  for (int i = 0; i < 10; ++i) {
    int looks = 0;
    (void)wait.spin([&] { return ++looks == 3; });
  }
  EXPECT_EQ(wait.budget_ns(), full);
}

TEST(adaptive_wait, latency_keeps_its_budget) {
  adaptive_wait wait(wait_policy::latency, 2);
  const std::int64_t full = wait.budget_ns();
  for (int i = 0; i < 3; ++i) (void)wait.spin(never);
  EXPECT_EQ(wait.budget_ns(), full);
}

}  // namespace
}  // namespace troupe
