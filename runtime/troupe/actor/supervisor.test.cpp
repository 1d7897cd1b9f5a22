// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <troupe/actor/internal/manual_executor.hpp>
#include <troupe/actor/manual_clock.hpp>
#include <troupe/actor/spawn.hpp>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/async/promise.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;
using testing::manual_executor;
using log = std::vector<std::string>;

struct bump {};
struct crash {};
struct finish {};
struct hang {
  pending<void> until;
};

/// Writes into a diary when it begins and ends, and counts.
struct worker {
  worker(actor_context<worker>& c, log* d) : self(c), diary(d) { diary->push_back("+" + self.name()); }
  ~worker() { diary->push_back("-" + self.name()); }
  int handle(bump) { return ++count; }
  void handle(crash) { throw std::runtime_error("boom"); }
  void handle(finish) { self.leave(); }
  task<void> handle(hang m) { (void)co_await as_result(m.until); }
  actor_context<worker>& self;
  log* diary;
  int count = 0;
};

/// Three workers a, b and c, and a supervisor on this thread with a clock in the test's hand.
struct trio {
  explicit trio(strategy s, enum restart r = restart::permanent) {
    for (const char* id : {"a", "b", "c"}) {
      auto made = supervise<worker>(id, {}, &diary);
      made.spec.restart = r;
      refs.push_back(made.ref);
      specs.push_back(made.spec);
    }
    top = spawn<supervisor>({.name = "top"}, supervisor_options{.strategy = s, .clock = &clock}, specs);
  }
  log news() { return std::exchange(diary, {}); }
  child_counts counts() { return top.ask(count_children{}).get().value(); }

  manual_clock clock;
  log diary;
  std::vector<supervised_ref<worker>> refs;
  std::vector<child_spec> specs;
  actor_ref<supervisor> top;
};

TEST(a_supervisor, starts_its_children_in_order_and_stops_them_in_reverse) {
  trio t(strategy::one_for_one);
  EXPECT_EQ(t.news(), (log{"+a", "+b", "+c"}));
  EXPECT_TRUE(t.top.stop().get());
  EXPECT_EQ(t.news(), (log{"-c", "-b", "-a"}));
  EXPECT_EQ(t.top.watch().get().value().kind, exit_kind::normal);
}

TEST(a_permanent_child, is_restarted_afresh_and_its_reference_reaches_the_new_life) {
  trio t(strategy::one_for_one);
  EXPECT_EQ(t.refs[1].ask(bump{}).get().value(), 1);
  EXPECT_EQ(t.refs[1].ask(bump{}).get().value(), 2);
  t.news();
  EXPECT_EQ(t.refs[1].ask(crash{}).get().error().reaction(), reaction::fatal);
  EXPECT_EQ(t.news(), (log{"-b", "+b"}));
  EXPECT_EQ(t.refs[1].ask(bump{}).get().value(), 1);
  t.refs[1].tell(finish{});
  EXPECT_EQ(t.news(), (log{"-b", "+b"})) << "after a normal end too";
  const auto children = t.top.ask(which_children{}).get().value();
  ASSERT_EQ(children.size(), 3u);
  EXPECT_EQ(children[1].restarts, 2u);
  EXPECT_EQ(children[1].last_exit->kind, exit_kind::normal);
}

TEST(a_transient_child, is_restarted_after_a_crash_or_kill_but_not_after_a_normal_end) {
  trio t(strategy::one_for_one, restart::transient);
  t.news();
  t.refs[0].tell(crash{});
  t.refs[0].current().kill();
  EXPECT_EQ(t.news(), (log{"-a", "+a", "-a", "+a"}));
  t.refs[0].tell(finish{});
  EXPECT_EQ(t.news(), log{"-a"});
  EXPECT_EQ(t.refs[0].tell(bump{}).error().reaction(), reaction::stopped);
  EXPECT_EQ(t.counts().specs, 3u);
  EXPECT_EQ(t.counts().active, 2u);
}

TEST(a_temporary_child, is_never_restarted_and_forgotten) {
  trio t(strategy::one_for_all, restart::temporary);
  t.news();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.news(), log{"-b"});
  EXPECT_EQ(t.counts().specs, 2u);
  EXPECT_EQ(t.refs[1].tell(bump{}).error().reaction(), reaction::stopped);
}

TEST(one_for_all, restarts_everybody) {
  trio t(strategy::one_for_all);
  t.news();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.news(), (log{"-b", "-c", "-a", "+a", "+b", "+c"}));
  EXPECT_EQ(t.counts().active, 3u);
  t.refs[0].tell(crash{});
  EXPECT_EQ(t.news(), (log{"-a", "-c", "-b", "+a", "+b", "+c"})) << "the ends it caused itself were not failures";
}

TEST(rest_for_one, restarts_the_child_and_those_after_it) {
  trio t(strategy::rest_for_one);
  t.news();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.news(), (log{"-b", "-c", "+b", "+c"}));
}

TEST(too_many_restarts, end_the_supervisor_with_shutdown_and_the_cause) {
  trio t(strategy::one_for_one);
  for (int i = 0; i < 3; ++i) t.refs[1].tell(crash{});
  EXPECT_EQ(t.counts().active, 3u);
  t.news();
  t.refs[1].tell(crash{});
  EXPECT_EQ(t.news(), (log{"-b", "-c", "-a"}));
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

TEST(restarts, are_forgotten_after_the_period) {
  trio t(strategy::one_for_one);
  for (int i = 0; i < 12; ++i) {
    t.refs[1].tell(crash{});
    t.clock.advance(21s);
  }
  EXPECT_EQ(t.counts().active, 3u);
  EXPECT_FALSE(t.top.ended());
}

TEST(a_child_between_two_lives, refuses_with_retry_later_and_what_it_had_queued_is_answered) {
  manual_executor hand, child_hand;
  manual_clock clock;
  log diary;
  auto made = supervise<worker>("w", {.on = child_hand}, &diary);
  EXPECT_EQ(made.ref.tell(bump{}).error().reaction(), reaction::retry_later) << "not started yet";
  auto top = spawn<supervisor>({.on = hand}, supervisor_options{.clock = &clock}, std::vector{made.spec});
  hand.run();
  auto failed = made.ref.ask(crash{});
  auto queued = made.ref.ask(bump{});
  child_hand.run();
  EXPECT_EQ(failed.get().error().reaction(), reaction::fatal);
  EXPECT_EQ(queued.get().error().reaction(), reaction::fatal);
  const accepted between = made.ref.tell(bump{});
  EXPECT_EQ(between.error().reaction(), reaction::retry_later);
  EXPECT_NE(between.error().text().find("'w'"), std::string::npos);
  EXPECT_EQ(made.ref.ask(bump{}).get().error().reaction(), reaction::retry_later);
  hand.run();
  EXPECT_TRUE(made.ref.tell(bump{}));
  child_hand.run();
  top.kill();
  hand.run();
  child_hand.run();
  EXPECT_EQ(made.ref.tell(bump{}).error().reaction(), reaction::stopped) << "given up";
}

TEST(a_killed_supervisor, kills_its_children) {
  trio t(strategy::one_for_one);
  auto life = t.refs[0].current();
  t.top.kill();
  EXPECT_EQ(life.watch().get().value().kind, exit_kind::killed);
  EXPECT_EQ(t.refs[0].tell(bump{}).error().reaction(), reaction::stopped);
}

TEST(a_killed_supervisor, starts_nobody_and_forgets_nobody_any_more) {
  manual_clock clock;
  log diary;
  promise<void> never;
  auto a = supervise<worker>("a", {}, &diary), temporary = supervise<worker>("temporary", {}, &diary);
  temporary.spec.restart = restart::temporary;
  auto top = spawn<supervisor>({}, supervisor_options{.strategy = strategy::one_for_all, .clock = &clock},
                               std::vector{a.spec, temporary.spec});
  temporary.ref.tell(hang{never.get_pending()});
  auto life = temporary.ref.current();
  a.ref.tell(crash{});  // and the supervisor waits for the other one
  top.kill();
  EXPECT_TRUE(life.ended());
  never.set();
  EXPECT_EQ(diary, (log{"+a", "+temporary", "-a", "-temporary"}));
}

TEST(a_killed_supervisor, does_not_start_the_next_child) {
  manual_executor hand;
  manual_clock clock;
  actor_ref<supervisor> top;
  log diary;
  int started = 0;
  const auto start = [&](const spawner& from) {
    ++started;
    top.kill();
    return from.spawn<worker>({}, &diary);
  };
  top = spawn<supervisor>({.on = hand}, supervisor_options{.clock = &clock},
                          std::vector{child_spec{.id = "a", .start = start}, child_spec{.id = "b", .start = start}});
  hand.run();
  EXPECT_EQ(started, 1);
}

// --- escalation ---

TEST(a_supervisor_that_gave_up, is_restarted_by_its_own_supervisor_with_fresh_children_until_that_gives_up_too) {
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
  EXPECT_FALSE(sub.ref.current() == first) << "another life";
  EXPECT_EQ(leaf.ref.ask(bump{}).get().value(), 1);
  leaf.ref.tell(crash{});
  leaf.ref.tell(crash{});
  EXPECT_EQ(top.watch().get().value().kind, exit_kind::shutdown);
  EXPECT_EQ(leaf.ref.tell(bump{}).error().reaction(), reaction::stopped);
}

TEST(a_transient_supervisor_that_gave_up, stays_down_because_shutdown_is_no_failure) {
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

struct deadly {
  explicit deadly(std::function<void(int)>* b) { (*b)(++lives); }
  void handle(crash) { throw std::runtime_error("boom"); }
  int handle(bump) { return 1; }
  static inline int lives = 0;
};

TEST(a_supervisor_that_was_killed, does_not_take_its_childrens_references_from_its_next_life) {
  manual_clock clock;
  std::function<void(int)> at_birth = [](int) {};
  auto leaf = supervise<deadly>("leaf", {}, &at_birth);
  auto sub = supervise_tree("sub", {.clock = &clock}, {leaf.spec});
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{sub.spec});
  at_birth = [&](int n) {
    if (n == 2) sub.ref.current().kill();  // and the next life starts its own leaf, while this one is being built
  };
  leaf.ref.tell(crash{});
  EXPECT_EQ(deadly::lives, 3);
  EXPECT_TRUE(leaf.ref.ask(bump{}).get());
  EXPECT_FALSE(leaf.ref.current().watch().ready());
}

TEST(a_child_that_moves_to_an_older_supervisor, is_reached_there) {
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

TEST(a_child_that_stops_in_time, leaves_no_alarm) {
  trio t(strategy::one_for_one);
  EXPECT_TRUE(t.top.ask(terminate_child{"a"}).get());
  EXPECT_EQ(t.clock.alarms(), 0u);
}

TEST(brutal_kill, asks_for_nothing_and_infinity_waits_for_ever) {
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

TEST(a_supervisor, that_is_killed_while_it_stops_its_children_ends_at_once) {
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

TEST(a_child_that_cannot_be_started_at_first, ends_the_supervisor_and_its_elder_siblings) {
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

TEST(a_restart_that_fails, is_tried_again_and_counts) {
  manual_clock clock;
  int lives = 0;
  auto made = supervise<fragile>("f", {}, &lives);
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{made.spec});
  made.ref.tell(crash{});
  EXPECT_EQ(lives, 4) << "the first, and three restarts";
  EXPECT_EQ(top.watch().get().value().kind, exit_kind::shutdown);
}

TEST(a_restart_that_fails, lets_commands_through_and_ends_with_a_stop) {
  manual_clock clock;
  log diary;
  int starts = 0, counted_after = 0;
  actor_ref<supervisor> top;
  actor_ref<worker> life;
  pending<void> stopped;
  child_spec spec{.id = "w", .start = [&](const spawner& from) -> result<actor_ref<worker>> {
                    if (++starts == 1 || starts == 100) return life = from.spawn<worker>({}, &diary);
                    clock.advance(61s);  // never too many
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

TEST(a_restart_that_fails, is_not_repeated_once_the_child_was_terminated) {
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

TEST(siblings, are_started_when_the_one_before_them_is_ready) {
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

TEST(a_child_that_says_it_could_not_start, counts_as_not_started) {
  manual_clock clock;
  promise<void> ready;
  pending<void> gate = ready.get_pending();
  auto slow = supervise<slow_starter>("slow", {}, &gate);
  auto top = spawn<supervisor>({}, supervisor_options{.clock = &clock}, std::vector{slow.spec});
  ready.set(error(reaction::unsupported, "test", "no GPU"));
  EXPECT_NE(top.watch().get().value().cause->text().find("no GPU"), std::string::npos);
}

/// Something that is no actor, as a device is.
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

TEST(a_child_that_is_no_actor, is_supervised_like_any_other) {
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

TEST(the_commands, start_terminate_restart_and_delete_children) {
  trio t(strategy::one_for_one);
  auto extra = supervise<worker>("d", {}, &t.diary);
  EXPECT_TRUE(t.top.ask(start_child{extra.spec}).get());
  EXPECT_EQ(t.news().back(), "+d");
  EXPECT_TRUE(t.top.ask(terminate_child{"d"}).get());
  EXPECT_EQ(t.news(), log{"-d"});
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

TEST(the_commands, refuse_what_does_not_fit) {
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
  t.news();
  t.refs[0].tell(crash{});
  EXPECT_EQ(t.news(), log{"-a"});
  slowly.set();
  EXPECT_EQ(t.news(), (log{"-b", "+a"}));
  EXPECT_TRUE(terminated.get());
}

TEST(a_supervisor, is_a_child_of_the_type_supervisor_however_it_was_specified) {
  EXPECT_EQ(supervise<supervisor>("s", {}, supervisor_options{}, std::vector<child_spec>{}).spec.type,
            child_type::supervisor);
  EXPECT_EQ(supervise_tree("s", {}, {}).spec.type, child_type::supervisor);
}

TEST(a_supervision_tree, lives_and_ends_with_its_stage) {
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
}  // namespace troupe
