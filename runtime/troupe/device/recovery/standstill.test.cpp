// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/recovery/standstill.hpp>

namespace troupe {
namespace {

using verdict = standstill::verdict;
constexpr std::int64_t ms = 1'000'000, start = 1'000 * ms;

TEST(standstill, a_request_is_overdue_if_the_gpu_works_for_a_standby) {
  protocol::workers_page workers;
  standstill s;
  EXPECT_TRUE(s.begin(workers, start));
  EXPECT_FALSE(s.begin(workers, start + ms)) << "the standbys are asked once";
  EXPECT_EQ(s.look(workers, start + ms), verdict::wait);
  workers.asked.store(1);
  EXPECT_EQ(s.look(workers, start + 2 * ms), verdict::wait);
  workers.signs.store(1);
  EXPECT_EQ(s.look(workers, start + 3 * ms), verdict::overran);
}

TEST(standstill, a_requests_time_starts_anew_when_the_gpu_works_again) {
  protocol::workers_page workers;
  standstill s;
  s.begin(workers, start);
  workers.asked.store(1);
  EXPECT_EQ(s.look(workers, start + 5'300 * ms), verdict::wait);
  workers.signs.store(1);
  EXPECT_EQ(s.look(workers, start + 5'301 * ms), verdict::resumed);
  EXPECT_TRUE(s.begin(workers, start + 6'000 * ms)) << "a request that is overdue again is another question";
  workers.signs.store(2);
  EXPECT_EQ(s.look(workers, start + 6'001 * ms), verdict::overran);
}

TEST(standstill, a_request_is_overdue_if_no_standby_answers) {
  protocol::workers_page workers;
  workers.asked.store(7);
  workers.signs.store(9);
  standstill s;
  s.begin(workers, start);
  EXPECT_EQ(s.look(workers, start + standstill::answer_ns - 1), verdict::wait);
  EXPECT_EQ(s.look(workers, start + standstill::answer_ns), verdict::overran);
}

TEST(standstill, a_standby_that_never_gives_a_sign_delays_the_verdict_for_a_limited_time) {
  protocol::workers_page workers;
  standstill s;
  s.begin(workers, start);
  workers.asked.store(1);
  EXPECT_EQ(s.look(workers, start + standstill::longest_ns - 1), verdict::wait);
  EXPECT_EQ(s.look(workers, start + standstill::longest_ns), verdict::overran);
}

TEST(standstill, a_gpu_that_is_always_slow_does_not_keep_a_request_for_ever) {
  protocol::workers_page workers;
  standstill s;
  std::int64_t now = start;
  const auto overdue_once = [&] {
    now += 1'000 * ms;
    s.begin(workers, now);
    workers.signs.fetch_add(1);
    now += 150 * ms;
    return s.look(workers, now);
  };
  for (std::uint32_t i = 0; i < standstill::most_resumed; ++i) EXPECT_EQ(overdue_once(), verdict::resumed);
  EXPECT_EQ(overdue_once(), verdict::overran);
  now += standstill::window_ns;
  EXPECT_EQ(overdue_once(), verdict::resumed);
}

TEST(standstill, a_request_that_ends_is_forgotten) {
  protocol::workers_page workers;
  standstill s;
  s.begin(workers, start);
  s.end();
  EXPECT_TRUE(s.begin(workers, start + 100 * ms));
  EXPECT_EQ(s.look(workers, start + 101 * ms), verdict::wait) << "the time counts from the second question";
}

}  // namespace
}  // namespace troupe
