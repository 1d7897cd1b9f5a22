// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <barrier>
#include <stdexcept>
#include <troupe/base/threads/thread_team.hpp>

namespace troupe {
namespace {

TEST(a_thread_team, does_every_part_once_with_any_number_of_threads) {
  for (const std::size_t threads : {1u, 2u, 5u}) {
    thread_team team(threads);
    for (const std::int64_t count : {0, 1, 7, 1000})
      for (const std::int64_t grain : {1, 3, 2000}) {
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
        team.spread(count, grain, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; });
        for (const auto& times : done) ASSERT_EQ(times, 1) << count << " by " << grain << " on " << threads;
      }
  }
}

TEST(a_thread_team, uses_all_its_threads_at_the_same_time) {
  thread_team team(4);
  std::barrier all_are_here(4);
  team.spread(4, 1, [&](std::int64_t) { all_are_here.arrive_and_wait(); });
}

TEST(a_thread_team, serves_several_callers_and_nested_work_at_the_same_time) {
  thread_team team(3);
  std::atomic<int> sum{0};
  const auto caller = [&] {
    for (int round = 0; round < 50; ++round)
      team.spread(10, 1, [&](std::int64_t) { team.spread(10, 1, [&](std::int64_t) { ++sum; }); });
  };
  std::thread first(caller), second(caller);
  caller();
  first.join();
  second.join();
  EXPECT_EQ(sum, 3 * 50 * 100);
}

TEST(a_thread_team, rethrows_the_exception_of_a_part_and_stays_usable) {
  for (const std::size_t threads : {1u, 3u}) {
    thread_team team(threads);
    EXPECT_THROW(team.spread(100, 1,
                             [](std::int64_t i) {
                               if (i == 42) throw std::runtime_error("part 42");
                             }),
                 std::runtime_error);
    std::atomic<int> done{0};
    team.spread(100, 1, [&](std::int64_t) { ++done; });
    EXPECT_EQ(done, 100);
  }
}

TEST(a_thread_team, passes_each_member_a_number_of_its_own) {
  struct numbers final : thread_team::work {
    bool is_open() const noexcept override { return left > 0; }
    void take_part(std::size_t member) noexcept override {
      while (left.fetch_sub(1) > 0) {
        all_are_here.arrive_and_wait();
        ++seen[member];
      }
    }
    std::atomic<int> left{3};
    std::barrier<> all_are_here{3};
    std::atomic<int> seen[3]{};
  } all;
  thread_team team(3);
  team.share(all);
  for (const auto& times : all.seen) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace troupe
