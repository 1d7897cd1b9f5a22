// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/recovery/standstill.hpp>

namespace troupe {
namespace {

using answer = standstill::answer;
constexpr std::int64_t ms = 1'000'000, start = 1'000 * ms;
constexpr std::int64_t longest_ns = protocol::workers_page::longest_wait_ns;

TEST(standstill, a_gpu_that_serves_a_standby_promptly_counts_as_working) {
  protocol::workers_page workers;
  standstill s;
  EXPECT_TRUE(s.ask(workers, start));
  EXPECT_FALSE(s.ask(workers, start + ms)) << "the standbys are asked once";
  EXPECT_EQ(s.look(workers, start + ms, false), answer::awaited);
  workers.asked.store(1);
  EXPECT_EQ(s.look(workers, start + 2 * ms, false), answer::awaited);
  workers.signs.store(1);
  EXPECT_EQ(s.look(workers, start + 3 * ms, false), answer::works);
  EXPECT_EQ(s.took_ns(), 3 * ms);
}

TEST(standstill, the_time_until_a_standby_is_served_is_measured) {
  protocol::workers_page workers;
  standstill s;
  s.ask(workers, start);
  workers.asked.store(1);
  EXPECT_EQ(s.look(workers, start + 5'300 * ms, false), answer::awaited);
  workers.signs.store(1);
  EXPECT_EQ(s.look(workers, start + 5'301 * ms, false), answer::stood_still);
  EXPECT_EQ(s.took_ns(), 5'301 * ms);
  EXPECT_TRUE(s.ask(workers, start + 6'000 * ms)) << "what comes later is another question";
  workers.signs.store(2);
  EXPECT_EQ(s.look(workers, start + 6'001 * ms, false), answer::works);
}

TEST(standstill, is_undecided_if_no_standby_answers) {
  protocol::workers_page workers;
  workers.asked.store(7);
  workers.signs.store(9);
  standstill s;
  s.ask(workers, start);
  EXPECT_EQ(s.look(workers, start + standstill::answer_ns - 1, false), answer::awaited);
  EXPECT_EQ(s.look(workers, start + standstill::answer_ns, false), answer::unknown);
}

TEST(standstill, a_standby_that_starts_is_awaited_and_asked_again) {
  protocol::workers_page workers;
  standstill s;
  EXPECT_TRUE(s.ask(workers, start));
  EXPECT_FALSE(s.ask(workers, start + standstill::answer_ns - 1));
  EXPECT_TRUE(s.ask(workers, start + standstill::answer_ns));
  EXPECT_FALSE(s.ask(workers, start + standstill::answer_ns + 1));
  EXPECT_EQ(s.look(workers, start + 400 * ms, true), answer::awaited);
  workers.asked.store(1);
  EXPECT_FALSE(s.ask(workers, start + 500 * ms)) << "it has heard";
  workers.signs.store(1);
  EXPECT_EQ(s.look(workers, start + 500 * ms, false), answer::stood_still);
  EXPECT_EQ(s.took_ns(), 500 * ms);
}

TEST(standstill, a_standby_that_is_never_served_is_awaited_for_a_limited_time) {
  protocol::workers_page workers;
  standstill s;
  s.ask(workers, start);
  workers.asked.store(1);
  EXPECT_EQ(s.look(workers, start + longest_ns - 1, false), answer::awaited);
  EXPECT_EQ(s.look(workers, start + longest_ns, false), answer::unknown);
}

TEST(standstill, a_question_is_forgotten_when_no_request_runs) {
  protocol::workers_page workers;
  standstill s;
  s.ask(workers, start);
  s.forget();
  EXPECT_TRUE(s.ask(workers, start + 100 * ms));
  EXPECT_EQ(s.look(workers, start + 101 * ms, false), answer::awaited) << "the time counts from the second question";
}

}  // namespace
}  // namespace troupe
