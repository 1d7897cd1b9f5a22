// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <troupe/channel/wait_policy.hpp>

namespace troupe {
namespace {

constexpr auto never = [] { return false; };

// Returns the number of checks before the wait gave up.
int looks(adaptive_wait& wait) {
  int n = 0;
  EXPECT_FALSE(wait.spin([&] { return ++n, false; }));
  return n;
}

TEST(adaptive_wait, never_spins_on_one_core) {
  for (const wait_policy policy : {wait_policy::latency, wait_policy::balanced, wait_policy::efficient}) {
    spin_experience known(policy, 1);
    adaptive_wait wait(known);
    EXPECT_EQ(known.budget_ns(), 0) << to_string(policy);
    EXPECT_EQ(looks(wait), 1);
  }
}

TEST(adaptive_wait, efficient_checks_once_and_never_spins) {
  spin_experience known(wait_policy::efficient, 64);
  adaptive_wait wait(known);
  EXPECT_EQ(known.budget_ns(), 0);
  EXPECT_TRUE(wait.spin([] { return true; }));
  EXPECT_EQ(looks(wait), 1);
}

TEST(adaptive_wait, stops_spinning_at_the_event_or_when_the_budget_is_spent) {
  spin_experience known(wait_policy::latency, 2);
  adaptive_wait wait(known);
  int n = 0;
  EXPECT_TRUE(wait.spin([&] { return ++n == 5; }));
  EXPECT_EQ(n, 5);
  const std::int64_t start = now_ns();
  EXPECT_FALSE(wait.spin(never));
  EXPECT_GE(now_ns() - start, known.budget_ns());
}

TEST(adaptive_wait, balanced_spins_less_after_spins_in_vain_and_more_after_successful_ones) {
  spin_experience known(wait_policy::balanced, 2);
  adaptive_wait wait(known);
  const std::int64_t full = known.budget_ns();
  for (int i = 0; i < 10; ++i) (void)wait.spin(never);
  const std::int64_t least = known.budget_ns();
  EXPECT_LT(least, full / 8);
  EXPECT_GT(least, 0) << "otherwise it would never learn that spinning pays again";
  for (int i = 0; i < 10; ++i) {
    int n = 0;
    (void)wait.spin([&] { return ++n == 3; });
  }
  EXPECT_EQ(known.budget_ns(), full);
}

TEST(adaptive_wait, latency_keeps_its_budget_after_spins_in_vain) {
  spin_experience known(wait_policy::latency, 2);
  adaptive_wait wait(known);
  const std::int64_t full = known.budget_ns();
  for (int i = 0; i < 3; ++i) (void)wait.spin(never);
  EXPECT_EQ(known.budget_ns(), full);
}

// A clock that advances whenever it is read.
std::int64_t time_ns = 0;
std::int64_t next_time() noexcept { return time_ns += 100; }

class paused_spin : public testing::TestWithParam<wait_policy> {
 protected:
  // Waits until spinning is possible again, spins in vain, and returns how long it was not possible.
  std::int64_t spin_in_vain() {
    const std::int64_t start = time_ns;
    std::int64_t before = start;
    while (looks(wait) == 1) before = time_ns;
    return before - start;
  }
  spin_experience known{GetParam(), 2, work_by::processors, &next_time};
  adaptive_wait wait{known};
};
INSTANTIATE_TEST_SUITE_P(with, paused_spin, testing::Values(wait_policy::latency, wait_policy::balanced),
                         [](const auto& policy) { return std::string(to_string(policy.param)); });

TEST_P(paused_spin, starts_and_grows_if_events_arrive_right_after_the_thread_sleeps) {
  std::int64_t longest = 0;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t budget = known.budget_ns(), paused = spin_in_vain();
    EXPECT_EQ(paused > 0, i > 0);
    longest = std::max(longest, paused / budget);
    wait.slept(1'000);
    adaptive_wait another(known);
    EXPECT_EQ(looks(another), 1) << "threads that wait for the same other side share what they learn";
  }
  EXPECT_GE(longest, 60) << "otherwise it costs too much if the other side never runs during a spin";
}

TEST_P(paused_spin, is_short_again_after_a_successful_spin) {
  for (int i = 0; i < 6; ++i) {
    (void)spin_in_vain();
    wait.slept(1'000);
  }
  (void)spin_in_vain();
  int n = 0;
  EXPECT_TRUE(wait.spin([&] { return ++n == 3; }));
  (void)spin_in_vain();
  wait.slept(1'000);
  EXPECT_LE(spin_in_vain(), 2 * known.budget_ns() + 1'000);
}

TEST_P(paused_spin, does_not_start_after_a_long_sleep_or_a_sleep_without_a_spin) {
  (void)spin_in_vain();
  wait.slept(10'000'000);
  EXPECT_EQ(spin_in_vain(), 0);
  EXPECT_TRUE(wait.spin([] { return true; }));
  wait.slept(1'000);
  EXPECT_EQ(spin_in_vain(), 0);
}

TEST_P(paused_spin, does_not_start_if_the_caller_knows_that_spinning_is_in_vain) {
  int n = 0;
  EXPECT_FALSE(wait.spin([&] { return ++n, false; }, [] { return true; }));
  EXPECT_EQ(n, 1);
  EXPECT_FALSE(wait.spin([&] { return ++n, false; }, [&] { return n > 5; })) << "or learns it while it spins";
  EXPECT_LT(n, 30);
  wait.slept(1'000);
  EXPECT_EQ(spin_in_vain(), 0) << "that does not affect the next spin";
}

TEST(adaptive_wait, sleeps_are_timed_only_after_a_spin) {
  spin_experience known(wait_policy::latency, 2);
  adaptive_wait wait(known);
  int slept = 0;
  wait.sleep_after_spin([&] { ++slept; });
  EXPECT_GT(looks(wait), 1);
  wait.sleep_after_spin([&] { ++slept; });
  EXPECT_EQ(slept, 2);
  EXPECT_EQ(looks(wait), 1) << "the second one was short";
}

}  // namespace
}  // namespace troupe
