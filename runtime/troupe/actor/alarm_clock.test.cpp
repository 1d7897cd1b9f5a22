// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <troupe/actor/alarm_clock.hpp>
#include <troupe/actor/internal/alarm_list.hpp>
#include <troupe/actor/manual_clock.hpp>
#include <troupe/async/task.hpp>

namespace troupe {
namespace {

template <class Clock>
struct a_clock : ::testing::Test {};
using clocks = ::testing::Types<monotonic_clock, manual_clock>;
TYPED_TEST_SUITE(a_clock, clocks);

/// Requests a second alarm after the first one was answered or cancelled.
task<int> ask_twice(alarm_clock* clock) {
  int cancelled = 0;
  for (int i = 0; i < 2; ++i) {
    const auto woken = co_await clock->wake_at(INT64_MAX);
    if (!woken) ++cancelled;
  }
  co_return cancelled;
}

TYPED_TEST(a_clock, cancels_alarms_that_are_requested_in_its_destructor) {
  std::optional<TypeParam> clock(std::in_place);
  auto both = start(ask_twice(&*clock));
  EXPECT_FALSE(both.ready());
  clock.reset();
  ASSERT_TRUE(both.ready());
  EXPECT_EQ(both.get().value(), 2);
}

TEST(a_list_of_alarms, reports_whether_an_added_alarm_is_the_earliest) {
  const auto at = [](std::int64_t time_ns) { return ref<detail::alarm>::adopt(new detail::alarm(time_ns)); };
  detail::alarm_list list;
  EXPECT_TRUE(list.add(at(100)));
  EXPECT_TRUE(list.add(at(50))) << "the clock's thread sleeps until 100 and must be woken";
  EXPECT_FALSE(list.add(at(70)));
  EXPECT_TRUE(list.add(at(10)));
  EXPECT_EQ(list.earliest(), 10);
}

TEST(a_monotonic_clock, answers_an_earlier_alarm_in_time_while_it_sleeps_until_a_later_one) {
  using namespace std::chrono_literals;
  monotonic_clock clock;
  const auto later = clock.wake_at(time_span(1h).after(clock.now_ns()));
  const auto sooner = [&](time_span t) { return clock.wake_at(t.after(clock.now_ns())); };
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(sooner(2ms).get_for(20s)) << "alarm " << i;
  EXPECT_FALSE(later.ready());
}

}  // namespace
}  // namespace troupe
