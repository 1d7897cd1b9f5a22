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

TEST(a_continuation_queue, takes_nothing_before_it_is_opened_and_after_it_was_closed) {
  continuation_queue q;
  job one;
  EXPECT_FALSE(q.hand_over(&one));
  q.open();
  EXPECT_TRUE(q.hand_over(&one));
  EXPECT_EQ(q.take(), &one);
  q.close();
  EXPECT_FALSE(q.hand_over(&one));
}

TEST(a_continuation_queue, keeps_the_order_of_what_is_handed_over_one_by_one_and_together) {
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

TEST(a_continuation_queue, closes_when_nothing_is_left_to_post) {
  continuation_queue q;
  q.open();
  job one;
  EXPECT_TRUE(q.hand_over(&one));
  EXPECT_FALSE(q.close_if_empty());
  EXPECT_EQ(q.take(), &one);
  EXPECT_TRUE(q.close_if_empty());
  EXPECT_FALSE(q.hand_over(&one));
}

}  // namespace
}  // namespace troupe
