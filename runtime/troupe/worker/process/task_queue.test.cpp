// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/worker/process/task_queue.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(task_queue, runs_all_tasks_in_order_on_one_thread) {
  std::vector<int> done;
  std::thread::id first, last;
  {
    task_queue others([&] { first = std::this_thread::get_id(); });
    for (int i = 0; i < 100; ++i)
      others.add([&, i] {
        done.push_back(i);
        last = std::this_thread::get_id();
      });
  }
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(first, last);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST(task_queue, does_not_block_the_caller_during_a_long_task) {
  std::atomic<bool> released = false, second = false;
  task_queue others;
  others.add([&] { released.wait(false); });
  others.add([&] { second = true; });
  EXPECT_FALSE(second);
  released = true;
  released.notify_all();
}

TEST(task_queue, reports_when_the_current_task_started) {
  std::atomic<bool> released = false;
  task_queue others;
  while (others.busy_since_ns() != 0) std::this_thread::yield();
  const std::int64_t before = now_ns();
  others.add([&] { released.wait(false); });
  others.add([] {});
  while (others.busy_since_ns() == 0) std::this_thread::yield();
  EXPECT_GE(others.busy_since_ns(), before);
  released = true;
  released.notify_all();
  while (others.busy_since_ns() != 0) std::this_thread::yield();
}

TEST(task_queue, blocks_a_caller_that_adds_very_many_tasks) {
  std::atomic<bool> released = false;
  std::atomic<int> given = 0;
  task_queue others;
  others.add([&] { released.wait(false); });
  std::thread giver([&] {
    for (; given < 1000; ++given) others.add([] {});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(given, 300);
  released = true;
  released.notify_all();
  giver.join();
  EXPECT_EQ(given, 1000);
}

}  // namespace
}  // namespace troupe
