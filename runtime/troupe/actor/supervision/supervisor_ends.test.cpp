// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/testing/supervisor_fixture.hpp>

namespace troupe::supervisor_tests {
namespace {

struct deadly {
  explicit deadly(std::function<void(int)>* b) { (*b)(++lives); }
  void handle(crash) { throw std::runtime_error("boom"); }
  int handle(bump) { return 1; }
  static inline int lives = 0;
};

TEST(a_supervisor_that_was_killed, does_not_take_the_references_of_children_from_its_next_incarnation) {
  deadly::lives = 0;  // undoes an earlier repetition of the test
  manual_clock clock;
  std::function<void(int)> at_birth = [](int) {};
  auto leaf = supervise<deadly>("leaf", {}, &at_birth);
  auto sub = supervise_tree("sub", {.clock = &clock}, {leaf.spec});
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{sub.spec});
  at_birth = [&](int n) {
    if (n == 2) sub.ref.current().kill();  // its next incarnation starts another leaf meanwhile
  };
  leaf.ref.tell(crash{});
  EXPECT_EQ(deadly::lives, 3);
  EXPECT_TRUE(leaf.ref.ask(bump{}).get());
  EXPECT_FALSE(leaf.ref.current().watch().ready());
}

TEST(a_child_that_is_handed_to_an_older_supervisor, is_reached_through_its_supervised_reference) {
  manual_clock clock;
  log diary;
  auto a = supervise<worker>("a", {}, &diary);
  auto older = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector<child_spec>{});
  auto younger = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{a.spec});
  EXPECT_TRUE(younger.ask(terminate_child{"a"}).get());
  EXPECT_TRUE(younger.ask(delete_child{"a"}).get());
  EXPECT_TRUE(older.ask(start_child{a.spec}).get());
  EXPECT_TRUE(a.ref.tell(bump{}));
}

// --- stopping ---

TEST(a_child_that_does_not_stop_in_time, is_killed) {
  trio t(strategy::one_for_one);
  promise<void> never;
  t.refs[1].tell(hang{never.get_pending()});
  auto life = t.refs[1].current();
  auto stopped = t.top.stop();
  EXPECT_FALSE(stopped.ready());
  t.clock.advance(4999ms);
  EXPECT_FALSE(stopped.ready());
  EXPECT_EQ(t.clock.alarms(), 1u);
  t.clock.advance(1ms);
  EXPECT_TRUE(stopped.get());
  EXPECT_EQ(life.watch().get().value().kind, exit_kind::killed);
  never.set();
}

TEST(a_child_that_stops_in_time, leaves_no_alarm_on_the_clock) {
  trio t(strategy::one_for_one);
  EXPECT_TRUE(t.top.ask(terminate_child{"a"}).get());
  EXPECT_EQ(t.clock.alarms(), 0u);
}

TEST(a_supervisors_end, kills_children_with_brutal_kill_and_waits_without_a_limit_for_those_with_infinity) {
  manual_clock clock;
  log diary;
  promise<void> slowly, never;
  auto killed = supervise<worker>("killed", {}, &diary), patient = supervise<worker>("patient", {}, &diary);
  killed.spec.shutdown = shutdown_policy::brutal_kill();
  patient.spec.shutdown = shutdown_policy::infinity();
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{patient.spec, killed.spec});
  killed.ref.tell(hang{never.get_pending()});
  patient.ref.tell(hang{slowly.get_pending()});
  auto k = killed.ref.current();
  auto stopped = top.stop();
  EXPECT_EQ(k.watch().get().value().kind, exit_kind::killed);
  clock.advance(1h);
  EXPECT_FALSE(stopped.ready());
  slowly.set();
  EXPECT_TRUE(stopped.get());
  never.set();
}

TEST(a_supervisor, ends_at_once_if_it_is_killed_while_it_stops_its_children) {
  trio t(strategy::one_for_one);
  promise<void> never;
  t.refs[1].tell(hang{never.get_pending()});
  auto life = t.refs[1].current();
  auto stopped = t.top.stop();
  t.top.kill();
  EXPECT_TRUE(stopped.get());
  EXPECT_TRUE(life.ended());
  EXPECT_EQ(t.clock.alarms(), 0u);
  never.set();
}

// --- starting ---

TEST(a_child_that_cannot_be_started_at_the_beginning, ends_the_supervisor_and_the_siblings_started_before) {
  manual_clock clock;
  log diary;
  auto good = supervise<worker>("good", {}, &diary);
  child_spec bad{.id = "bad", .start = []() -> result<actor_ref<worker>> {
                   return error(reaction::unsupported, "test", "no such library");
                 }};
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{good.spec, bad});
  const exit_reason reason = top.watch().get().value();
  EXPECT_EQ(reason.kind, exit_kind::shutdown);
  EXPECT_NE(reason.cause->text().find("child 'bad' could not be started: no such library"), std::string::npos);
  EXPECT_EQ(reason.cause->reaction(), reaction::unsupported);
  EXPECT_EQ(diary, (log{"+good", "-good"}));
}

struct fragile {
  explicit fragile(int* lives) {
    if (++*lives > 1) throw std::runtime_error("only once");
  }
  void handle(crash) { throw std::runtime_error("boom"); }
};

TEST(a_restart_that_fails, is_retried_and_counts_as_a_restart) {
  manual_clock clock;
  int lives = 0;
  auto made = supervise<fragile>("f", {}, &lives);
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{made.spec});
  made.ref.tell(crash{});
  EXPECT_EQ(lives, 4) << "the first, and three restarts";
  EXPECT_EQ(top.watch().get().value().kind, exit_kind::shutdown);
}

TEST(a_restart_that_fails, leaves_time_for_commands_between_retries_and_ends_on_a_stop) {
  manual_clock clock;
  log diary;
  int starts = 0, counted_after = 0;
  actor_ref<supervisor> top;
  actor_ref<worker> life;
  pending<void> stopped;
  child_spec spec{.id = "w", .start = [&](const spawner& from) -> result<actor_ref<worker>> {
                    if (++starts == 1 || starts == 100) return life = from.spawn<worker>({}, &diary);
                    clock.advance(61s);  // never too many restarts within the window
                    if (starts == 3)
                      top.ask(count_children{}).then([&](const result<child_counts>&) { counted_after = starts; });
                    if (starts == 6) stopped = top.stop();
                    return error(reaction::unsupported, "test", "no such library");
                  }};
  top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{spec});
  life.tell(crash{});
  EXPECT_EQ(starts, 6);
  EXPECT_EQ(counted_after, 3);
  EXPECT_TRUE(stopped.valid() && stopped.ready());
}

TEST(a_restart_that_fails, is_not_retried_once_the_child_is_terminated) {
  manual_clock clock;
  log diary;
  int starts = 0;
  actor_ref<supervisor> top;
  actor_ref<worker> life;
  child_spec spec{.id = "w", .start = [&](const spawner& from) -> result<actor_ref<worker>> {
                    if (++starts == 1) return life = from.spawn<worker>({}, &diary);
                    if (starts == 2) top.ask(terminate_child{"w"}).detach();
                    return error(reaction::unsupported, "test", "no such library");
                  }};
  top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{spec});
  life.tell(crash{});
  EXPECT_EQ(starts, 2);
  EXPECT_FALSE(top.ended());
}

struct slow_starter {
  explicit slow_starter(pending<void>* g) : gate(std::move(*g)) {}
  task<result<void>> handle(await_start) {
    co_await gate;
    co_return {};
  }
  pending<void> gate;
};

TEST(siblings, are_started_when_the_previous_one_is_ready) {
  manual_clock clock;
  log diary;
  promise<void> ready;
  pending<void> gate = ready.get_pending();
  auto slow = supervise<slow_starter>("slow", {}, &gate);
  auto after = supervise<worker>("after", {}, &diary);
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{slow.spec, after.spec});
  auto counts = top.ask(count_children{});
  EXPECT_TRUE(diary.empty());
  EXPECT_FALSE(counts.ready());
  ready.set();
  EXPECT_EQ(diary, log{"+after"});
  EXPECT_EQ(counts.get().value().active, 2u);
}

TEST(a_child_that_answers_await_start_with_an_error, counts_as_not_started) {
  manual_clock clock;
  promise<void> ready;
  pending<void> gate = ready.get_pending();
  auto slow = supervise<slow_starter>("slow", {}, &gate);
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{slow.spec});
  ready.set(error(reaction::unsupported, "test", "no GPU"));
  EXPECT_NE(top.watch().get().value().cause->text().find("no GPU"), std::string::npos);
}

/// A child that is not an actor, like a device.
struct machine final : child_handle {
  explicit machine(log* l) : diary(l) {}
  pending<exit_reason> watch() override {
    promise<exit_reason> p;
    auto out = p.get_pending();
    watchers.push_back(std::move(p));
    if (end) fire();
    return out;
  }
  void stop() noexcept override { finish(exit_kind::normal); }
  void kill() noexcept override { finish(exit_kind::killed); }
  void finish(exit_kind k) noexcept {
    if (end) return;
    end = exit_reason{.kind = k, .actor = "machine"};
    diary->push_back(std::string(to_string(k)));
    fire();
  }
  void fire() {
    auto all = std::exchange(watchers, {});
    for (auto& p : all) p.set(*end);
  }
  log* diary;
  std::optional<exit_reason> end;
  std::vector<promise<exit_reason>> watchers;
};

TEST(a_child_that_is_not_an_actor, is_supervised_like_an_actor) {
  manual_clock clock;
  log diary;
  std::vector<std::shared_ptr<machine>> lives;
  child_spec spec{.id = "machine", .start = [&] {
                    lives.push_back(std::make_shared<machine>(&diary));
                    return lives.back();
                  }};
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{spec});
  ASSERT_EQ(lives.size(), 1u);
  lives[0]->finish(exit_kind::crashed);
  ASSERT_EQ(lives.size(), 2u);
  EXPECT_TRUE(top.stop().get());
  EXPECT_EQ(diary, (log{"crashed", "normal"}));
}

// --- commands ---

TEST(supervisor_commands, start_terminate_restart_and_delete_children) {
  trio t(strategy::one_for_one);
  auto extra = supervise<worker>("d", {}, &t.diary);
  EXPECT_TRUE(t.top.ask(start_child{extra.spec}).get());
  EXPECT_EQ(t.take_log().back(), "+d");
  EXPECT_TRUE(t.top.ask(terminate_child{"d"}).get());
  EXPECT_EQ(t.take_log(), log{"-d"});
  EXPECT_EQ(extra.ref.tell(bump{}).error().reaction(), reaction::stopped);
  EXPECT_EQ(t.counts().specs, 4u);
  EXPECT_EQ(t.counts().active, 3u);
  EXPECT_TRUE(t.top.ask(restart_child{"d"}).get());
  EXPECT_TRUE(extra.ref.tell(bump{}));
  EXPECT_TRUE(t.top.ask(terminate_child{"d"}).get());
  EXPECT_TRUE(t.top.ask(delete_child{"d"}).get());
  EXPECT_EQ(t.counts().specs, 3u);
  EXPECT_EQ(t.counts().workers, 3u);
  EXPECT_EQ(t.counts().supervisors, 0u);
}

TEST(supervisor_commands, fail_if_the_id_is_unknown_or_the_childs_state_does_not_allow_them) {
  trio t(strategy::one_for_one);
  const auto refused = [](const result<void>& r, const char* part) {
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().reaction(), reaction::caller_bug);
    EXPECT_NE(r.error().text().find(part), std::string::npos) << r.error().text();
  };
  refused(t.top.ask(start_child{t.specs[0]}).get(), "child 'a' already");
  refused(t.top.ask(terminate_child{"x"}).get(), "no child 'x'");
  refused(t.top.ask(restart_child{"a"}).get(), "is running");
  refused(t.top.ask(delete_child{"a"}).get(), "is running");
  EXPECT_FALSE(find_child<worker>(t.top, "x").get());
  EXPECT_FALSE(find_child<supervisor>(t.top, "a").get()) << "another class";
  EXPECT_THROW((void)spawn<supervisor>({}, supervisor_options{}, std::vector<child_spec>{}), bad_result) << "no clock";
  EXPECT_THROW((void)spawn<supervisor>({}, supervisor_options{.clock = &t.clock}, std::vector{t.specs[0], t.specs[0]}),
               bad_result);
}

TEST(terminating_a_temporary_child, forgets_it) {
  trio t(strategy::one_for_one, restart::temporary);
  EXPECT_TRUE(t.top.ask(terminate_child{"b"}).get());
  EXPECT_EQ(t.counts().specs, 2u);
}

TEST(a_child, is_found_by_its_id) {
  trio t(strategy::one_for_one);
  auto found = find_child<worker>(t.top, "b").get().value();
  EXPECT_TRUE(found == t.refs[1]);
  EXPECT_EQ(found.ask(bump{}).get().value(), 1);
}

TEST(a_child_that_crashes_while_its_supervisor_is_busy, is_restarted_afterwards) {
  trio t(strategy::one_for_one);
  promise<void> slowly;
  t.refs[1].tell(hang{slowly.get_pending()});
  auto terminated = t.top.ask(terminate_child{"b"});
  t.take_log();
  t.refs[0].tell(crash{});
  EXPECT_EQ(t.take_log(), log{"-a"});
  slowly.set();
  EXPECT_EQ(t.take_log(), (log{"-b", "+a"}));
  EXPECT_TRUE(terminated.get());
}

TEST(a_supervisor, is_a_child_of_type_supervisor_by_default) {
  EXPECT_EQ(supervise<supervisor>("s", {}, supervisor_options{}, std::vector<child_spec>{}).spec.type,
            child_type::supervisor);
  EXPECT_EQ(supervise_tree("s", {}, {}).spec.type, child_type::supervisor);
}

TEST(a_supervision_tree, ends_with_its_stage) {
  log diary;
  exit_reason reason;
  {
    stage s({.threads = 2});
    auto leaf = supervise<worker>("leaf", {}, &diary);
    auto sub = supervise_tree("sub", {}, {leaf.spec});
    auto top = s.spawn<supervisor>({}, supervisor_options{}, std::vector{sub.spec});
    EXPECT_EQ(top.ask(count_children{}).get().value().supervisors, 1u);
    EXPECT_EQ(leaf.ref.ask(bump{}).get().value(), 1);
  }
  EXPECT_EQ(diary, (log{"+leaf", "-leaf"}));
}

}  // namespace
}  // namespace troupe::supervisor_tests
