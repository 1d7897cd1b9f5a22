// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/waiting/continuation_queue.hpp>
#include <vector>

namespace troupe {
namespace {

std::vector<const job*> listed(const job* first) {
  std::vector<const job*> all;
  for (; first != nullptr; first = first->next) all.push_back(first);
  return all;
}

TEST(continuation_queue, rejects_jobs_unless_it_is_open) {
  continuation_queue q;
  job one;
  EXPECT_FALSE(q.hand_over(&one));
  q.open();
  EXPECT_TRUE(q.hand_over(&one));
  EXPECT_EQ(q.take(), &one);
  q.close();
  EXPECT_FALSE(q.hand_over(&one));
}

TEST(continuation_queue, keeps_the_order_of_single_jobs_and_of_lists) {
  continuation_queue q;
  q.open();
  job a, b, c, d;
  b.next = &c;
  EXPECT_TRUE(q.empty());
  EXPECT_TRUE(q.hand_over(&a));
  EXPECT_TRUE(q.hand_over(&b));
  EXPECT_TRUE(q.hand_over(&d));
  EXPECT_FALSE(q.empty());
  EXPECT_EQ(listed(q.take()), (std::vector<const job*>{&a, &b, &c, &d}));
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take(), nullptr);
}

TEST(continuation_queue, closes_only_if_no_job_is_left_to_post) {
  continuation_queue q;
  q.open();
  job one;
  EXPECT_TRUE(q.hand_over(&one));
  bool may = true;
  const auto permission = [&] { return may; };
  EXPECT_FALSE(q.close_if_empty(permission));
  EXPECT_EQ(q.take(), &one);
  EXPECT_TRUE(q.if_open([&] { may = false; }));
  EXPECT_FALSE(q.close_if_empty(permission));
  may = true;
  EXPECT_TRUE(q.close_if_empty(permission));
  EXPECT_FALSE(q.hand_over(&one));
  EXPECT_FALSE(q.if_open([&] { may = false; }));
  EXPECT_TRUE(may);
}

}  // namespace
}  // namespace troupe
