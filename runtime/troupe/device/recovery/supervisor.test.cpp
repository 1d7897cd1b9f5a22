// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <troupe/device/testing/supervised.hpp>

namespace troupe {
namespace {

using namespace testing_device;

TEST(device_supervisor, launches_a_worker_and_a_standby_and_stops_them_at_an_orderly_close) {
  supervised d;
  EXPECT_EQ(d.on(event::opened), "launch1");
  EXPECT_EQ(d.s.state(), device_state::starting);
  EXPECT_EQ(d.s.next_tick(), 130 * second);
  EXPECT_EQ(d.on(event::worker_ready, 1), "admit_worker1,serve1,launch2")
      << "the standby is launched when the first worker serves";
  EXPECT_EQ(d.s.state(), device_state::ready);
  EXPECT_EQ(d.on(event::worker_ready, 2), "admit_worker2,standby_ready2");
  EXPECT_EQ(d.on(event::worker_ready, 2), "") << "it was ready before";
  EXPECT_EQ(d.s.next_tick(), std::nullopt);
  EXPECT_EQ(d.on(event::drained), "") << "matters only while the device closes";
  EXPECT_EQ(d.on(event::close_asked), "refuse_new,await_drained");
  EXPECT_EQ(d.s.state(), device_state::closing);
  EXPECT_EQ(d.on(event::drained), "stop_worker1,stop_worker2");
  EXPECT_EQ(d.s.next_tick(), 105 * second);
  EXPECT_EQ(d.on(event::worker_exited, 2), "forget_worker2");
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,answer_all,tell_stopped(fine)");
  EXPECT_EQ(d.s.state(), device_state::stopped);
  EXPECT_EQ(d.s.next_tick(), std::nullopt);
}

TEST(device_supervisor, lets_a_standby_take_over_and_launches_another) {
  auto d = supervised::ready();
  const auto out = d.feed(event::worker_exited, 1);
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].kind, kind::forget_worker);
  EXPECT_EQ(out[1].kind, kind::sort_out);
  EXPECT_NE(out[1].why->text().find("cause: worker_exited"), std::string::npos);
  EXPECT_EQ(supervised::text(out[2]), "serve2");
  EXPECT_EQ(supervised::text(out[3]), "launch3");
  EXPECT_EQ(d.s.state(), device_state::ready);
}

TEST(device_supervisor, waits_briefly_for_the_cause_that_a_worker_that_cannot_serve_reports) {
  auto d = supervised::ready();
  EXPECT_EQ(d.on(event::cannot_serve, 1), "");
  EXPECT_EQ(d.s.next_tick(), d.now + second / 10);
  const auto out = d.feed(event::worker_exited, 1);
  ASSERT_GE(out.size(), 3u);
  EXPECT_NE(out[1].why->text().find("cause: worker_exited"), std::string::npos)
      << "its exit status is the better cause";
  EXPECT_EQ(supervised::text(out[2]), "serve2");
}

TEST(device_supervisor, kills_a_worker_that_cannot_serve_and_reports_no_cause) {
  auto d = supervised::ready();
  d.on(event::cannot_serve, 1);
  EXPECT_EQ(d.later(second / 10 - 1), "");
  EXPECT_EQ(d.later(1), "kill_worker1");
  const auto out = d.feed(event::worker_exited, 1);
  ASSERT_GE(out.size(), 3u);
  EXPECT_NE(out[1].why->text().find("cause: cannot_serve"), std::string::npos);
}

TEST(device_supervisor, reports_the_devices_state_with_each_action) {
  auto d = supervised::ready();
  const auto states = [](const actions& all) {
    std::vector<device_state> out;
    for (const auto& a : all) out.push_back(a.state);
    return out;
  };
  using enum device_state;
  // forget, sort out, serve, launch
  EXPECT_EQ(states(d.feed(event::worker_exited, 1)), (std::vector{ready, recovering, ready, ready}));
  EXPECT_EQ(states(d.feed(event::close_asked)), (std::vector{closing, closing}));
  EXPECT_EQ(states(d.feed(event::drained)), (std::vector{closing, closing}));
  d.feed(event::worker_exited, 2);
  // forget, answer all, tell stopped
  EXPECT_EQ(states(d.feed(event::worker_exited, 3)), (std::vector{closing, closing, stopped}));
}

TEST(device_supervisor, passes_on_the_time_at_which_a_fault_was_detected) {
  auto d = supervised::ready();
  d.s.on({event::misbehaved, 1, error(reaction::context_lost, "test", "lied"), fault_kind::ended, d.now - 7}, d.now);
  const auto out = d.feed(event::worker_exited, 1);
  ASSERT_GE(out.size(), 2u);
  EXPECT_EQ(out[1].seen_ns, d.now - 7);
}

TEST(device_supervisor, waits_for_the_end_of_a_misbehaving_worker_before_another_serves) {
  auto d = supervised::ready();
  EXPECT_EQ(d.on(event::misbehaved, 1), "kill_worker1");
  EXPECT_EQ(d.on(event::misbehaved, 1), "") << "once is enough";
  const auto out = d.feed(event::worker_exited, 1);
  ASSERT_GE(out.size(), 3u);
  EXPECT_NE(out[1].why->text().find("cause: misbehaved"), std::string::npos) << "the first event is the cause";
  EXPECT_EQ(supervised::text(out[2]), "serve2");
}

TEST(device_supervisor, replaces_a_worker_without_standbys_at_once_the_first_time_and_then_after_a_pause) {
  auto d = supervised::ready({.standbys = 0});
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,sort_out,launch2");
  EXPECT_EQ(d.s.state(), device_state::recovering);
  EXPECT_EQ(d.on(event::worker_ready, 2), "admit_worker2,serve2");
  EXPECT_EQ(d.on(event::worker_exited, 2), "forget_worker2,sort_out");
  EXPECT_EQ(d.s.next_tick(), d.now + second / 10);
  EXPECT_EQ(d.later(second / 10 - 1), "");
  EXPECT_EQ(d.later(1), "launch3");
  EXPECT_EQ(d.on(event::worker_exited, 3), "forget_worker3,sort_out") << "it never came to serve";
  EXPECT_EQ(d.later(second / 10), "launch4") << "a worker must serve soon; the limit on restarts bounds this";
  EXPECT_EQ(d.on(event::worker_ready, 4), "admit_worker4,serve4");
}

TEST(device_supervisor, lets_a_standby_that_is_still_starting_serve_when_it_is_ready) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready, 1);
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,sort_out");
  EXPECT_EQ(d.s.state(), device_state::recovering);
  EXPECT_EQ(d.on(event::worker_ready, 2), "admit_worker2,serve2,launch3");
}

TEST(device_supervisor, writes_a_limit_of_one_restart_in_the_singular) {
  auto d = supervised::ready({.restarts = 1});
  d.on(event::worker_exited, 1);
  d.on(event::worker_ready, d.s.serving() + 1);
  const auto out = d.feed(event::worker_exited, d.s.serving());
  ASSERT_EQ(d.s.state(), device_state::stopped);
  const std::string& text = out[2].why->text();
  EXPECT_NE(text.find("restarted more than once within 60 s"), std::string::npos) << text;
}

TEST(device_supervisor, stops_after_too_many_faults_in_the_window_and_can_be_reset) {
  auto d = supervised::ready();
  std::uint32_t serving = 1;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(d.on(event::worker_exited, serving).substr(0, 14), "forget_worker" + std::to_string(serving));
    serving = d.s.serving();
    d.on(event::worker_ready, serving + 1);
  }
  const auto out = d.feed(event::worker_exited, serving);
  EXPECT_EQ(d.s.state(), device_state::stopped);
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(out[1].kind, kind::kill_worker) << "the standby";
  EXPECT_EQ(out[2].kind, kind::refuse_new);
  EXPECT_EQ(out[2].why->reaction(), reaction::stopped);
  EXPECT_NE(out[2].why->text().find("more than 3 times within 60 s"), std::string::npos) << out[2].why->text();
  EXPECT_NE(out[2].why->text().find("reset()"), std::string::npos);
  EXPECT_EQ(out[3].why->reaction(), reaction::context_lost);
  EXPECT_EQ(d.on(event::worker_exited, serving + 1), "");
  const std::string next = std::to_string(serving + 2);
  EXPECT_EQ(d.on(event::reset_asked), "accept_new,launch" + next);
  EXPECT_EQ(d.on(event::reset_asked), "");
  EXPECT_EQ(d.s.state(), device_state::recovering);
  EXPECT_EQ(d.on(event::worker_ready, serving + 2).rfind("admit_worker" + next + ",serve" + next, 0), 0u);
}

TEST(device_supervisor, tolerates_any_number_of_faults_that_are_further_apart_than_the_window) {
  auto d = supervised::ready();
  for (int i = 0; i < 50; ++i) {
    d.now += 21 * second;
    d.on(event::worker_exited, d.s.serving());
    EXPECT_EQ(d.s.state(), device_state::ready);
    d.on(event::worker_ready, d.s.serving() + 1);
  }
}

TEST(device_supervisor, replaces_standbys_that_die_with_growing_pauses_and_counts_no_restart) {
  auto d = supervised::ready();
  EXPECT_EQ(d.on(event::worker_exited, 2), "forget_worker2,lost_standby2");
  EXPECT_EQ(d.s.state(), device_state::ready);
  EXPECT_EQ(d.later(second / 10), "launch3");
  EXPECT_EQ(d.on(event::worker_exited, 3), "forget_worker3,lost_standby3");
  EXPECT_EQ(d.later(second / 10), "");
  EXPECT_EQ(d.later(second / 10), "launch4");
  EXPECT_EQ(d.later(30 * second), "lost_standby4,kill_worker4") << "not ready in time";
  EXPECT_EQ(d.on(event::worker_exited, 4), "forget_worker4");
}

TEST(device_supervisor, does_not_wait_long_for_a_serving_worker_after_many_failed_standbys) {
  auto d = supervised::ready({.restarts = 10, .window = time_span::of_seconds(3600)});
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,sort_out,serve2,launch3");
  for (std::uint32_t standby = 3; standby < 9; ++standby) {
    d.on(event::worker_exited, standby);
    EXPECT_EQ(d.later(11 * second), "launch" + std::to_string(standby + 1));
  }
  d.on(event::worker_exited, 9);  // the next launch is far in the future
  d.on(event::worker_exited, 2);
  EXPECT_EQ(d.s.state(), device_state::recovering);
  ASSERT_TRUE(d.s.next_tick());
  EXPECT_LE(*d.s.next_tick() - d.now, second / 10);
}

TEST(device_supervisor, stops_if_the_first_worker_fails_before_it_serves) {
  for (const event how : {event::worker_failed, event::worker_exited, event::not_launched}) {
    supervised d;
    d.on(event::opened);
    const auto out = d.on(how, 1);
    EXPECT_NE(out.find("refuse_new,answer_all,tell_stopped(error)"), std::string::npos) << out;
    EXPECT_EQ(d.s.state(), device_state::stopped);
  }
  supervised d;
  d.on(event::opened);
  EXPECT_EQ(d.later(29 * second), "");
  EXPECT_EQ(d.later(second), "kill_worker1,refuse_new,answer_all,tell_stopped(error)");
  EXPECT_EQ(d.on(event::worker_ready, 1), "") << "too late";
  EXPECT_EQ(d.on(event::worker_exited, 1), "");
  EXPECT_EQ(d.on(event::reset_asked), "accept_new,launch2");
}

TEST(device_supervisor, does_not_wait_for_the_end_of_a_killed_worker_that_is_quiesced) {
  auto d = supervised::ready();
  EXPECT_EQ(d.ends_work(1), "") << "it has not failed";
  EXPECT_EQ(d.on(event::worker_failed, 1), "kill_worker1");
  EXPECT_EQ(d.on(event::quiesced, 1), "") << "its GPU may still run its kernels";
  EXPECT_EQ(d.ends_work(2), "") << "worker 2 has not failed";
  EXPECT_EQ(d.ends_work(1), "check_quiesced1");
  EXPECT_EQ(d.on(event::quiesced, 2), "") << "worker 2 has not failed";
  EXPECT_EQ(d.on(event::quiesced, 1), "sort_out,serve2");
  EXPECT_EQ(d.s.state(), device_state::ready);
  EXPECT_EQ(d.on(event::quiesced, 1), "") << "it no longer serves";
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,launch3") << "the next standby starts after its end";
  EXPECT_EQ(d.s.state(), device_state::ready);
}

TEST(device_supervisor, checks_again_soon_while_the_threads_of_a_failed_worker_run) {
  auto d = supervised::ready();
  d.on(event::worker_failed, 1);
  EXPECT_EQ(d.ends_work(1), "check_quiesced1");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(d.s.next_tick());
    const std::int64_t pause = *d.s.next_tick() - d.now;
    EXPECT_GT(pause, 0);
    EXPECT_LT(pause, second / 1000);
    EXPECT_EQ(d.later(pause - 1), "");
    EXPECT_EQ(d.later(1), "check_quiesced1");
  }
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,sort_out,serve2,launch3") << "its end is as good";
  EXPECT_EQ(d.on(event::quiesced, 1), "");
  EXPECT_EQ(d.s.next_tick(), d.now + 30 * second) << "nobody looks at it any more";
}

TEST(device_supervisor, waits_for_the_copies_of_a_failed_worker_after_its_threads_have_ended) {
  auto d = supervised::ready();
  constexpr std::int64_t ms = second / 1000;
  d.on(event::worker_failed, 1);
  d.ends_work(1, std::chrono::milliseconds(5));
  EXPECT_EQ(d.later(7 * ms), "check_quiesced1") << "no copy counts while its threads may ask for others";
  EXPECT_EQ(d.on(event::quiesced, 1), "");
  EXPECT_EQ(d.s.next_tick(), d.now + 5 * ms);
  EXPECT_EQ(d.later(4 * ms), "");
  EXPECT_EQ(d.on(event::quiesced, 1), "") << "it was quiesced before";
  EXPECT_EQ(d.later(ms), "sort_out,serve2");
}

TEST(device_supervisor, does_not_replace_a_quiesced_worker_if_a_closing_device_has_no_requests_left) {
  auto d = supervised::ready();
  d.on(event::close_asked);
  d.on(event::worker_failed, 1);
  d.ends_work(1);
  EXPECT_EQ(d.on(event::drained), "stop_worker2");
  EXPECT_EQ(d.on(event::quiesced, 1), "");
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1");
  EXPECT_EQ(d.on(event::worker_exited, 2), "forget_worker2,answer_all,tell_stopped(fine)");
}

TEST(device_supervisor, forgets_a_quiesced_worker_whose_process_never_ends) {
  auto d = supervised::ready();
  d.on(event::worker_failed, 1);
  d.ends_work(1);
  d.on(event::quiesced, 1);
  EXPECT_EQ(d.s.next_tick(), d.now + second);
  EXPECT_EQ(d.later(second - 1), "");
  EXPECT_EQ(d.later(1), "launch3") << "a standby waits for its end no longer";
  d.on(event::worker_ready, 3);
  EXPECT_EQ(d.later(3 * second), "");
  EXPECT_EQ(d.later(second), "forget_worker1");
  EXPECT_EQ(d.s.state(), device_state::ready);
}

TEST(device_supervisor, stops_at_the_first_fault_if_workers_cannot_be_replaced) {
  auto d = supervised::ready({.standbys = 0, .restartable = false});
  EXPECT_EQ(d.on(event::misbehaved, 1), "kill_worker1,refuse_new,answer_all,tell_stopped(error)");
}

TEST(device_supervisor, stops_if_a_killed_worker_does_not_end) {
  auto d = supervised::ready();
  d.on(event::misbehaved, 1);
  EXPECT_EQ(d.later(4 * second), "");
  EXPECT_EQ(d.later(second), "forget_worker1,kill_worker2,refuse_new,answer_all,tell_stopped(error)");
}

TEST(device_supervisor, sets_no_deadline_for_queued_work_at_an_orderly_close_even_after_a_fault) {
  auto d = supervised::ready();
  d.on(event::close_asked);
  EXPECT_EQ(d.later(3600 * second), "");
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,sort_out,serve2") << "the queued requests are served";
  EXPECT_EQ(d.s.state(), device_state::closing);
  EXPECT_EQ(d.on(event::drained), "stop_worker2");
  EXPECT_EQ(d.on(event::worker_exited, 2), "forget_worker2,answer_all,tell_stopped(fine)");
}

TEST(device_supervisor, kills_a_worker_that_does_not_end_when_asked_and_still_closes_without_an_error) {
  auto d = supervised::ready({.standbys = 0});
  d.on(event::close_asked);
  d.on(event::drained);
  EXPECT_EQ(d.later(5 * second), "kill_worker1");
  EXPECT_EQ(d.on(event::worker_exited, 1), "forget_worker1,answer_all,tell_stopped(fine)");
}

TEST(device_supervisor, cancels_queued_requests_at_close_now_and_kills_a_worker_that_runs_too_long) {
  auto d = supervised::ready({.standbys = 0});
  EXPECT_EQ(d.on(event::close_now_asked), "refuse_new,cancel_queued,await_drained");
  d.now += 3 * second;
  EXPECT_EQ(d.on(event::close_now_asked), "") << "asking again does not give it more time";
  EXPECT_EQ(d.on(event::close_asked), "");
  EXPECT_EQ(d.later(2 * second), "kill_worker1,refuse_new,answer_all,tell_stopped(error)");
}

TEST(device_supervisor, can_be_closed_after_it_has_stopped_restarting) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_exited, 1);
  EXPECT_EQ(d.on(event::close_asked), "end_watches");
  EXPECT_EQ(d.on(event::reset_asked), "") << "too late";
  EXPECT_EQ(d.on(event::close_asked), "");
}

TEST(device_supervisor, reports_the_reason_why_a_device_was_closed) {
  supervised d({.standbys = 0});
  d.on(event::opened);
  d.on(event::worker_ready, 1);
  const actions closing =
      d.s.on({event::close_asked, 0, error(reaction::stopped, "test", "its last handle is gone")}, d.now);
  EXPECT_EQ(closing.front().kind, kind::refuse_new);
  EXPECT_EQ(closing.front().why->text(), "its last handle is gone");
  d.on(event::drained);
  const actions end = d.feed(event::worker_exited, 1);
  const auto answers = std::find_if(end.begin(), end.end(), [](const auto& a) { return a.kind == kind::answer_all; });
  ASSERT_NE(answers, end.end());
  EXPECT_EQ(answers->why->text(), "its last handle is gone");
}

}  // namespace
}  // namespace troupe
