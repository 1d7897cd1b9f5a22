// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <troupe/actor/alarm_clock.hpp>
#include <troupe/actor/manual_clock.hpp>
#include <troupe/async/task.hpp>

namespace troupe {
namespace {

template <class Clock>
struct a_clock : ::testing::Test {};
using clocks = ::testing::Types<monotonic_clock, manual_clock>;
TYPED_TEST_SUITE(a_clock, clocks);

/// Arms a clock again whatever came of the last alarm.
task<int> ask_twice(alarm_clock* clock) {
  int cancelled = 0;
  for (int i = 0; i < 2; ++i) {
    const auto woken = co_await clock->wake_at(INT64_MAX);
    if (!woken) ++cancelled;
  }
  co_return cancelled;
}

TYPED_TEST(a_clock, cancels_alarms_that_are_asked_for_while_it_ends) {
  std::optional<TypeParam> clock(std::in_place);
  auto both = start(ask_twice(&*clock));
  EXPECT_FALSE(both.ready());
  clock.reset();
  ASSERT_TRUE(both.ready());
  EXPECT_EQ(both.get().value(), 2);
}

}  // namespace
}  // namespace troupe
