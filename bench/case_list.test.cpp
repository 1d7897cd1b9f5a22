// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bench/case_list.hpp>

namespace troupe::bench {
namespace {

TEST(case_list, the_sum_counts_each_case_as_many_times_as_it_occurs) {
  case_list all(1e9, "GFLOP/s");
  all.begin_line("a layer");
  all.add("forward", 2e9, 3, {.ours = 2, .raw = 2}, "");
  all.add("backward", 4e9, 1, {.ours = 4, .raw = 3}, "");
  const figures f = all.total(0.75);
  EXPECT_DOUBLE_EQ(f.ours, 10. / 10);
  EXPECT_DOUBLE_EQ(f.raw, 10. / 9);
  EXPECT_EQ(f.missed, "");
  EXPECT_EQ(f.objection, "");
  EXPECT_EQ(f.note,
            "a layer: forward 1 GFLOP/s, ratio 1.000; backward 1 GFLOP/s, ratio 0.750\n"
            "  sums 10000.000 ms, raw 9000.000 ms; the least ratio 0.750");
  EXPECT_EQ(all.total(0.76).missed, "every ratio >= 0.76; the least is at a layer, backward");
}

TEST(case_list, the_first_wrong_result_is_an_objection) {
  case_list all(1, "/s");
  all.begin_line("a layer");
  all.add("first", 1, 1, {.ours = 1, .raw = 1}, "");
  all.add("second", 1, 1, {.ours = 1, .raw = 1}, "element 2 is wrong");
  all.add("third", 1, 1, {.ours = 1, .raw = 1}, "element 3 is wrong");
  EXPECT_EQ(all.total().objection, "a layer, second: element 2 is wrong");
}

TEST(case_list, the_goal_is_missed_if_a_case_is_left_out) {
  case_list all(1, "/s");
  all.begin_line("a layer");
  all.leave_out("forward", "there is no such engine");
  const figures f = all.total();
  EXPECT_EQ(f.ours, 0);
  EXPECT_EQ(f.raw, 0);
  EXPECT_EQ(f.missed, "1 case is left out");
  EXPECT_EQ(f.note, "a layer: forward left out: there is no such engine");
}

}  // namespace
}  // namespace troupe::bench
