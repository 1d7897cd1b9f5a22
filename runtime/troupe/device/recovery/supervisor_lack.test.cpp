// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Workers that cannot serve because descriptors, processes or memory are short.
#include <gtest/gtest.h>

#include <string>
#include <troupe/device/testing/supervised.hpp>

namespace troupe {
namespace {

using namespace testing_device;

TEST(device_supervisor, a_passing_shortage_uses_up_no_restarts_and_is_retried_after_short_pauses) {
  auto d = supervised::ready({.standbys = 0, .restarts = 1});
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,sort_out,launch2");
  std::uint32_t id = 2;
  for (const int pause : {1, 2, 4, 4, 4}) {
    EXPECT_EQ(d.on(event::not_launched, id), "forget_worker" + std::to_string(id)) << "no other loss";
    EXPECT_EQ(d.s.state(), device_state::recovering);
    EXPECT_EQ(d.later(pause * second / 10 - 1), "");
    EXPECT_EQ(d.later(1), "launch" + std::to_string(++id));
  }
  EXPECT_EQ(d.on(event::worker_ready, id), "admit_worker7,serve7");
}

TEST(device_supervisor, a_shortage_before_a_worker_is_ready_is_no_fault) {
  auto d = supervised::ready({.standbys = 0, .restarts = 1});
  d.on(event::worker_exited, 1);
  EXPECT_EQ(supervised::text(
                d.s.on({event::worker_failed, 2, error(reaction::retry_later, "test", "no descriptor")}, d.now).at(0)),
            "kill_worker2");
  EXPECT_EQ(d.on(event::worker_exited, 2), "forget_worker2");
  EXPECT_EQ(d.later(second / 10), "launch3");
  EXPECT_EQ(d.on(event::worker_failed, 3), "kill_worker3");
  EXPECT_NE(d.on(event::worker_exited, 3).find("tell_stopped(error)"), std::string::npos) << "this one is a fault";
}

TEST(device_supervisor, stops_with_the_reason_if_a_shortage_lasts_for_the_start_timeout_after_the_loss) {
  auto d = supervised::ready({.standbys = 0});
  const std::int64_t lost = d.now;
  d.on(event::worker_exited, 1);
  std::uint32_t id = 2;
  while (d.now < lost + 30 * second) {
    ASSERT_EQ(d.on(event::not_launched, id), "forget_worker" + std::to_string(id));
    ASSERT_TRUE(d.s.next_tick());
    EXPECT_EQ(d.later(*d.s.next_tick() - d.now), "launch" + std::to_string(++id));
  }
  EXPECT_EQ(d.now, lost + 30 * second) << "the last attempt";
  const auto out = d.feed(event::not_launched, id);
  EXPECT_EQ(d.s.state(), device_state::stopped);
  const std::string& text = out.at(1).why->text();
  EXPECT_NE(text.find("no worker could be started for 30 s (device_options::start_timeout); the last cause: cause: "
                      "not_launched"),
            std::string::npos)
      << text;
}

TEST(device_supervisor, a_shortage_keeps_a_device_that_is_closed_while_it_starts_for_no_longer_than_the_start_timeout) {
  supervised d({.standbys = 0});
  const std::int64_t opened = d.now;
  d.on(event::opened);
  d.on(event::close_asked);  // requests wait, so the device closes once a worker has run them
  std::uint32_t id = 1;
  while (d.now < opened + 30 * second) {
    ASSERT_EQ(d.on(event::not_launched, id), "forget_worker" + std::to_string(id));
    ASSERT_TRUE(d.s.next_tick());
    EXPECT_EQ(d.later(*d.s.next_tick() - d.now), "launch" + std::to_string(++id));
  }
  EXPECT_NE(d.on(event::not_launched, id).find("tell_stopped(error)"), std::string::npos);
}

}  // namespace
}  // namespace troupe
