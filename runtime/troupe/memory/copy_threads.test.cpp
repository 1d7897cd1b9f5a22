// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <troupe/memory/copy_threads.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(copy_threads, do_every_part_once_with_any_number_of_helpers) {
  for (const std::size_t helpers : {0, 1, 3}) {
    copy_threads crew(helpers);
    for (std::size_t count = 0; count < 300; ++count) {
      std::vector<std::atomic<int>> done(count);
      crew.run(count, [&](std::size_t i) { ++done[i]; });
      for (const auto& d : done) ASSERT_EQ(d.load(), 1) << count;
    }
  }
}

TEST(copy_threads, serve_several_callers_at_the_same_time) {
  copy_threads crew(2);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&crew, t] {
      std::vector<int> from(1000), to(1000);
      std::iota(from.begin(), from.end(), t);
      for (int round = 0; round < 2000; ++round) {
        std::fill(to.begin(), to.end(), -1);
        crew.run(10, [&](std::size_t i) { std::copy_n(&from[i * 100], 100, &to[i * 100]); });
        ASSERT_EQ(to, from);
      }
    });
  for (std::thread& c : callers) c.join();
}

TEST(copy_threads, resume_work_after_they_have_slept) {
  copy_threads crew(1);
  std::atomic<std::thread::id> other{};
  for (int round = 0; round < 200 && other.load() == std::thread::id(); ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    crew.run(2, [&, me = std::this_thread::get_id()](std::size_t) {
      if (std::this_thread::get_id() != me) other = std::this_thread::get_id();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
  }
  EXPECT_NE(other.load(), std::thread::id()) << "no helper took a part";
}

}  // namespace
}  // namespace troupe
