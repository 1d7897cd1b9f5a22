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

TEST(task_queue, are_done_in_order_on_one_thread_and_all_of_them) {
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

TEST(task_queue, nobody_waits_for_one_that_takes_long) {
  std::atomic<bool> let_go = false, second = false;
  task_queue others;
  others.add([&] { let_go.wait(false); });
  others.add([&] { second = true; });
  EXPECT_FALSE(second);
  let_go = true;
  let_go.notify_all();
}

TEST(task_queue, say_since_when_they_have_been_at_one) {
  std::atomic<bool> let_go = false;
  task_queue others;
  while (others.busy_since_ns() != 0) std::this_thread::yield();
  const std::int64_t before = now_ns();
  others.add([&] { let_go.wait(false); });
  others.add([] {});
  while (others.busy_since_ns() == 0) std::this_thread::yield();
  EXPECT_GE(others.busy_since_ns(), before);
  let_go = true;
  let_go.notify_all();
  while (others.busy_since_ns() != 0) std::this_thread::yield();
}

TEST(task_queue, who_gives_very_many_waits_for_room) {
  std::atomic<bool> let_go = false;
  std::atomic<int> given = 0;
  task_queue others;
  others.add([&] { let_go.wait(false); });
  std::thread giver([&] {
    for (; given < 1000; ++given) others.add([] {});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(given, 300);
  let_go = true;
  let_go.notify_all();
  giver.join();
  EXPECT_EQ(given, 1000);
}

}  // namespace
}  // namespace troupe
