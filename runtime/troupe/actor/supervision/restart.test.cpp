// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <troupe/actor/supervision/restart.hpp>

namespace troupe {
namespace {

using indices = std::vector<std::size_t>;

TEST(restarting, depends_on_the_type_of_the_child_and_the_kind_of_its_exit) {
  const std::pair<exit_kind, bool> abnormal[] = {
      {exit_kind::normal, false}, {exit_kind::shutdown, false}, {exit_kind::killed, true}, {exit_kind::crashed, true}};
  for (const auto& [kind, restarted] : abnormal) {
    EXPECT_TRUE(must_restart(restart::permanent, kind)) << to_string(kind);
    EXPECT_EQ(must_restart(restart::transient, kind), restarted) << to_string(kind);
    EXPECT_FALSE(must_restart(restart::temporary, kind)) << to_string(kind);
  }
}

TEST(one_for_one, restarts_the_failed_child_only) {
  const child_state three[3];
  EXPECT_EQ(plan_restart(strategy::one_for_one, three, 1), (restart_plan{.start = {1}}));
}

TEST(one_for_all, stops_the_others_in_reverse_and_starts_all_in_order) {
  const child_state three[3];
  EXPECT_EQ(plan_restart(strategy::one_for_all, three, 1), (restart_plan{.stop = {2, 0}, .start = {0, 1, 2}}));
}

TEST(rest_for_one, does_not_restart_earlier_children) {
  const child_state four[4];
  EXPECT_EQ(plan_restart(strategy::rest_for_one, four, 1), (restart_plan{.stop = {3, 2}, .start = {1, 2, 3}}));
  EXPECT_EQ(plan_restart(strategy::rest_for_one, four, 3), (restart_plan{.start = {3}}));
}

TEST(a_group_restart, forgets_temporary_siblings_and_starts_siblings_that_were_not_running) {
  const child_state children[] = {{restart::temporary, true}, {restart::transient, false}, {restart::permanent, true}};
  EXPECT_EQ(plan_restart(strategy::one_for_all, children, 2),
            (restart_plan{.stop = {0}, .start = {1, 2}, .forget = {0}}));
}

// Checks the rules for every combination of strategy, failed child, and type and state of up to four children.
TEST(every_restart_plan, follows_the_rules_of_its_strategy_and_types) {
  int plans = 0;
  for (const strategy s : {strategy::one_for_one, strategy::one_for_all, strategy::rest_for_one}) {
    for (std::size_t n = 1; n <= 4; ++n) {
      std::size_t combinations = 1;
      for (std::size_t i = 0; i < n; ++i) combinations *= 6;
      for (std::size_t code = 0; code < combinations; ++code) {
        std::vector<child_state> children;
        for (std::size_t i = 0, c = code; i < n; ++i, c /= 6)
          children.push_back({static_cast<restart>(c % 3), c % 6 >= 3});
        for (std::size_t failed = 0; failed < n; ++failed) {
          if (children[failed].running || children[failed].type == restart::temporary) continue;
          const restart_plan plan = plan_restart(s, children, failed);
          ++plans;
          const auto has = [](const indices& list, std::size_t i) {
            return std::count(list.begin(), list.end(), i) == 1;
          };
          ASSERT_TRUE(std::is_sorted(plan.stop.rbegin(), plan.stop.rend()));
          ASSERT_TRUE(std::is_sorted(plan.start.begin(), plan.start.end()));
          ASSERT_TRUE(has(plan.start, failed));
          for (std::size_t i = 0; i < n; ++i) {
            const bool concerned =
                i == failed || s == strategy::one_for_all || (s == strategy::rest_for_one && i > failed);
            const bool once = children[i].type == restart::temporary;
            ASSERT_EQ(has(plan.stop, i), concerned && children[i].running) << to_string(s) << " child " << i;
            ASSERT_EQ(has(plan.start, i), concerned && !once) << to_string(s) << " child " << i;
            ASSERT_EQ(has(plan.forget, i), concerned && once) << to_string(s) << " child " << i;
          }
        }
      }
    }
  }
  EXPECT_GT(plans, 4000);
}

}  // namespace
}  // namespace troupe
