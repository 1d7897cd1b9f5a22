// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <troupe/base/threads/lock_soon.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(lock_soon, two_threads_never_hold_the_mutex_together) {
  std::mutex m;
  int inside = 0, sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const auto guard = lock_soon(m);
        ASSERT_EQ(++inside, 1);
        ++sum;
        --inside;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 20'000);
}

TEST(lock_soon, waits_until_a_long_holder_unlocks) {
  std::mutex m;
  std::unique_lock held(m);
  std::atomic<bool> in{false};
  std::thread waits([&] {
    const auto guard = lock_soon(m);
    in = guard.owns_lock();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(in.load());
  held.unlock();
  waits.join();
  EXPECT_TRUE(in.load());
}

}  // namespace
}  // namespace troupe
