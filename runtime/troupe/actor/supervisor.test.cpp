// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/testing/supervisor_fixture.hpp>

namespace troupe::supervisor_tests {
namespace {

TEST(a_supervisor, starts_its_children_in_order_and_stops_them_in_reverse) {
  trio t(strategy::one_for_one);
  EXPECT_EQ(t.take_log(), (log{"+a", "+b", "+c"}));
  EXPECT_TRUE(t.top.stop().get());
  EXPECT_EQ(t.take_log(), (log{"-c", "-b", "-a"}));
  EXPECT_EQ(t.top.watch().get().value().kind, exit_kind::normal);
}

TEST(a_permanent_child, is_restarted_and_its_reference_reaches_the_new_incarnation) {
  trio t(strategy::one_for_one);
  EXPECT_EQ(t.refs[1].ask(bump{}).get().value(), 1);
  EXPECT_EQ(t.refs[1].ask(bump{}).get().value(), 2);
  t.take_log();
  EXPECT_EQ(t.refs[1].ask(crash{}).get().error().reaction(), reaction::fatal);
  EXPECT_EQ(t.take_log(), (log{"-b", "+b"}));
  EXPECT_EQ(t.refs[1].ask(bump{}).get().value(), 1);
  t.refs[1].tell(finish{});
  EXPECT_EQ(t.take_log(), (log{"-b", "+b"})) << "after a normal end as well";
  const auto children = t.top.ask(which_children{}).get().value();
  ASSERT_EQ(children.size(), 3u);
  EXPECT_EQ(children[1].restarts, 2u);
  EXPECT_EQ(children[1].last_exit->kind, exit_kind::normal);
}

TEST(a_transient_child, is_restarted_after_a_crash_or_kill_but_not_after_a_normal_end) {
  trio t(strategy::one_for_one, restart::transient);
  t.take_log();
  t.refs[0].tell(crash{});
  t.refs[0].current().kill();
  EXPECT_EQ(t.take_log(), (log{"-a", "+a", "-a", "+a"}));
  t.refs[0].tell(finish{});
  EXPECT_EQ(t.take_log(), log{"-a"});
  EXPECT_EQ(t.refs[0].tell(bump{}).error().reaction(), reaction::stopped);
  EXPECT_EQ(t.counts().specs, 3u);
  EXPECT_EQ(t.counts().active, 2u);
}

TEST(a_temporary_child, is_forgotten_instead_of_restarted) {
  trio t(strategy::one_for_all, restart::temporary);
  t.take_log();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.take_log(), log{"-b"});
  EXPECT_EQ(t.counts().specs, 2u);
  EXPECT_EQ(t.refs[1].tell(bump{}).error().reaction(), reaction::stopped);
}

TEST(one_for_all, restarts_all_children) {
  trio t(strategy::one_for_all);
  t.take_log();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.take_log(), (log{"-b", "-c", "-a", "+a", "+b", "+c"}));
  EXPECT_EQ(t.counts().active, 3u);
  t.refs[0].tell(crash{});
  EXPECT_EQ(t.take_log(), (log{"-a", "-c", "-b", "+a", "+b", "+c"})) << "ends that it caused itself are not failures";
}

TEST(rest_for_one, restarts_the_child_and_those_after_it) {
  trio t(strategy::rest_for_one);
  t.take_log();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.take_log(), (log{"-b", "-c", "+b", "+c"}));
}

TEST(too_many_restarts, end_the_supervisor_with_shutdown_and_the_cause) {
  trio t(strategy::one_for_one);
  for (int i = 0; i < 3; ++i) t.refs[1].tell(crash{});
  EXPECT_EQ(t.counts().active, 3u);
  t.take_log();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.take_log(), (log{"-b", "-c", "-a"}));
  const exit_reason reason = t.top.watch().get().value();
  EXPECT_EQ(reason.kind, exit_kind::shutdown);
  ASSERT_TRUE(reason.cause);
  for (const char* part : {"'b'", "more than 3", "boom"})
    EXPECT_NE(reason.cause->text().find(part), std::string::npos) << reason.cause->text();
  const error refused = t.refs[1].ask(bump{}).get().error();
  EXPECT_EQ(refused.reaction(), reaction::stopped);
  for (const char* part : {"child 'b' takes no more messages", "its supervisor has given up", "boom"})
    EXPECT_NE(refused.text().find(part), std::string::npos) << refused.text();
  EXPECT_EQ(refused.text().find("supervise it"), std::string::npos) << refused.text();
}

TEST(restarts, do_not_count_once_they_are_older_than_the_window) {
  trio t(strategy::one_for_one);
  for (int i = 0; i < 12; ++i) {
    t.refs[1].tell(crash{});
    t.clock.advance(21s);
  }
  EXPECT_EQ(t.counts().active, 3u);
  EXPECT_FALSE(t.top.ended());
}

TEST(a_child_between_two_lives, refuses_messages_with_retry_later_and_its_queued_ones_are_answered) {
  manual_executor manual, child_manual;
  manual_clock clock;
  log diary;
  auto made = supervise<worker>("w", {.on = child_manual}, &diary);
  EXPECT_EQ(made.ref.tell(bump{}).error().reaction(), reaction::retry_later) << "not started yet";
  EXPECT_EQ(made.ref.tell(bump{}).error().code(), EAGAIN);
  auto top = spawn<supervisor>({.on = manual}, supervisor_options{.clock = &clock}, std::vector{made.spec});
  manual.run();
  auto failed = made.ref.ask(crash{});
  auto queued = made.ref.ask(bump{});
  child_manual.run();
  EXPECT_EQ(failed.get().error().reaction(), reaction::fatal);
  EXPECT_EQ(queued.get().error().reaction(), reaction::fatal);
  const accepted between = made.ref.tell(bump{});
  EXPECT_EQ(between.error().reaction(), reaction::retry_later);
  EXPECT_NE(between.error().text().find("'w'"), std::string::npos);
  EXPECT_EQ(made.ref.ask(bump{}).get().error().reaction(), reaction::retry_later);
  manual.run();
  EXPECT_TRUE(made.ref.tell(bump{}));
  child_manual.run();
  top.kill();
  manual.run();
  child_manual.run();
  EXPECT_EQ(made.ref.tell(bump{}).error().reaction(), reaction::stopped) << "given up";
}

TEST(a_killed_supervisor, kills_its_children) {
  trio t(strategy::one_for_one);
  auto life = t.refs[0].current();
  t.top.kill();
  EXPECT_EQ(life.watch().get().value().kind, exit_kind::killed);
  EXPECT_EQ(t.refs[0].tell(bump{}).error().reaction(), reaction::stopped);
}

TEST(a_killed_supervisor, neither_starts_nor_forgets_children) {
  manual_clock clock;
  log diary;
  promise<void> never;
  auto a = supervise<worker>("a", {}, &diary), temporary = supervise<worker>("temporary", {}, &diary);
  temporary.spec.restart = restart::temporary;
  auto top = spawn<supervisor>({}, supervisor_options{.strategy = strategy::one_for_all, .clock = &clock},
                               std::vector{a.spec, temporary.spec});
  temporary.ref.tell(hang{never.get_pending()});
  auto life = temporary.ref.current();
  a.ref.tell(crash{});  // the supervisor waits until the hanging child has ended
  top.kill();
  EXPECT_TRUE(life.ended());
  never.set();
  EXPECT_EQ(diary, (log{"+a", "+temporary", "-a", "-temporary"}));
}

TEST(a_killed_supervisor, does_not_start_its_next_child) {
  manual_executor manual;
  manual_clock clock;
  actor_ref<supervisor> top;
  log diary;
  int started = 0;
  const auto start = [&](const spawner& from) {
    ++started;
    top.kill();
    return from.spawn<worker>({}, &diary);
  };
  top = spawn<supervisor>({.on = manual}, supervisor_options{.clock = &clock},
                          std::vector{child_spec{.id = "a", .start = start}, child_spec{.id = "b", .start = start}});
  manual.run();
  EXPECT_EQ(started, 1);
}

// --- escalation ---

TEST(a_supervisor_that_gave_up, is_restarted_with_new_children_until_its_own_supervisor_gives_up) {
  manual_clock clock;
  log diary;
  auto leaf = supervise<worker>("leaf", {}, &diary);
  auto sub = supervise_tree("sub", {.restarts = 1, .clock = &clock}, {leaf.spec});
  auto top =
      spawn<supervisor>({.name = "top"}, supervisor_options{.restarts = 1, .clock = &clock}, std::vector{sub.spec});
  auto first = sub.ref.current();
  leaf.ref.tell(crash{});
  EXPECT_FALSE(first.ended());
  leaf.ref.tell(crash{});
  EXPECT_TRUE(first.ended());
  EXPECT_EQ(first.watch().get().value().kind, exit_kind::shutdown);
  EXPECT_FALSE(sub.ref.current() == first) << "a new life";
  EXPECT_EQ(leaf.ref.ask(bump{}).get().value(), 1);
  leaf.ref.tell(crash{});
  leaf.ref.tell(crash{});
  EXPECT_EQ(top.watch().get().value().kind, exit_kind::shutdown);
  EXPECT_EQ(leaf.ref.tell(bump{}).error().reaction(), reaction::stopped);
}

TEST(a_transient_supervisor_that_gave_up, is_not_restarted_because_shutdown_is_not_a_failure) {
  manual_clock clock;
  log diary;
  auto leaf = supervise<worker>("leaf", {}, &diary);
  auto sub = supervise_tree("sub", {.restarts = 0, .clock = &clock}, {leaf.spec});
  sub.spec.restart = restart::transient;
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{sub.spec});
  leaf.ref.tell(crash{});
  const auto children = top.ask(which_children{}).get().value();
  EXPECT_FALSE(children[0].running);
  EXPECT_EQ(children[0].last_exit->kind, exit_kind::shutdown);
}

}  // namespace
}  // namespace troupe::supervisor_tests
