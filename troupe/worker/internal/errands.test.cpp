// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <troupe/worker/internal/errands.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(errands, are_done_in_order_on_one_thread_and_all_of_them) {
  std::vector<int> done;
  std::thread::id first, last;
  {
    errands others([&] { first = std::this_thread::get_id(); });
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

TEST(errands, nobody_waits_for_one_that_takes_long) {
  std::atomic<bool> let_go = false, second = false;
  errands others;
  others.add([&] { let_go.wait(false); });
  others.add([&] { second = true; });
  EXPECT_FALSE(second);
  let_go = true;
  let_go.notify_all();
}

TEST(errands, without_any_there_is_no_thread) {
  bool begun = false;
  {
    errands none([&] { begun = true; });
  }
  EXPECT_FALSE(begun);
}

}  // namespace
}  // namespace troupe
