// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <troupe/actor/spawn.hpp>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/testing/manual_executor.hpp>
#include <troupe/async/promise.hpp>

namespace troupe {
namespace {

using testing::manual_executor;
using log = std::vector<std::string>;

struct note {
  std::string text;
};
struct ask_length {};
struct crash {};
struct wait_for {
  pending<void> what;
  std::function<void()> begun = [] {};
};
struct call {
  std::function<void()> what;
};
struct leave_now {};

/// Logs its messages and its end.
struct recorder {
  recorder(actor_context<recorder>& c, log& l, std::string n) : self(c), diary(l), name(std::move(n)) {}
  ~recorder() { diary.push_back(name + " destroyed"); }
  void handle(note m) { diary.push_back(m.text); }
  std::size_t handle(ask_length) { return diary.size(); }
  void handle(crash) { throw std::runtime_error("ouch"); }
  task<void> handle(wait_for m) {
    m.begun();
    (void)co_await as_result(std::move(m.what).cancel_on(co_await get_stop_token()));
    diary.push_back(name + " waited");
  }
  void handle(call m) { m.what(); }
  void handle(leave_now) { self.leave(); }
  actor_ref<recorder> handle(std::string child) { return self.spawn<recorder>({.name = child}, diary, child); }
  void terminate(const exit_reason& r) { diary.push_back(name + " says " + std::string(to_string(r.kind))); }

  actor_context<recorder>& self;
  log& diary;
  std::string name;
};

TEST(an_orderly_stop, handles_queued_messages_refuses_later_ones_and_calls_terminate) {
  manual_executor manual;
  log diary;
  auto ref = spawn<recorder>({.on = manual}, diary, "a");
  ref.tell(note{"first"});
  auto answer = ref.ask(ask_length{});
  auto ended = ref.watch();
  auto stopped = ref.stop();
  const accepted late = ref.tell(note{"late"});
  EXPECT_EQ(late.error().reaction(), reaction::stopped);
  EXPECT_EQ(ref.ask(ask_length{}).get().error().reaction(), reaction::stopped);
  EXPECT_FALSE(stopped.ready());
  manual.run();
  EXPECT_EQ(answer.get().value(), 1u);
  EXPECT_TRUE(stopped.get());
  EXPECT_EQ(ended.get().value().kind, exit_kind::normal);
  EXPECT_EQ(diary, (log{"first", "a says normal", "a destroyed"}));
}

TEST(stopping, an_actor_twice_or_after_its_end_is_answered) {
  log diary;
  auto ref = spawn<recorder>({}, diary, "a");
  EXPECT_TRUE(ref.stop().get());
  EXPECT_TRUE(ref.stop().get());
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::normal) << "a watch of an ended actor is answered at once";
  ref.kill();
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::normal);
}

TEST(a_kill, discards_queued_messages_and_answers_asks_with_stopped) {
  manual_executor manual;
  log diary;
  auto ref = spawn<recorder>({.on = manual, .name = "victim"}, diary, "a");
  ref.tell(note{"never"});
  auto answer = ref.ask(ask_length{});
  ref.kill();
  manual.run();
  const auto r = answer.get();
  EXPECT_EQ(r.error().reaction(), reaction::stopped);
  EXPECT_NE(r.error().text().find("victim"), std::string::npos) << r.error().text();
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::killed);
  EXPECT_EQ(diary, log{"a destroyed"}) << "terminate is not called";
}

TEST(a_kill, asks_a_waiting_task_to_stop_and_does_not_wait_for_it) {
  log diary;
  promise<void> never;
  auto ref = spawn<recorder>({}, diary, "a");
  auto busy = ref.ask(wait_for{never.get_pending()});
  auto queued = ref.ask(ask_length{});
  ref.kill();
  EXPECT_EQ(busy.get().error().reaction(), reaction::stopped);
  EXPECT_EQ(queued.get().error().reaction(), reaction::stopped);
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::killed);
  EXPECT_TRUE(never.cancel_requested());
  EXPECT_TRUE(diary.empty()) << "the object lives until the task has ended";
  never.set();
  EXPECT_EQ(diary, (log{"a waited", "a destroyed"}));
}

TEST(a_kill, ends_the_actor_before_the_handler_that_ordered_it_returns) {
  log diary;
  auto ref = spawn<recorder>({}, diary, "a");
  auto answer = ref.ask(call{[&] {
    ref.kill();
    diary.push_back(ref.ended() ? "ended" : "alive");
  }});
  EXPECT_EQ(answer.get().error().reaction(), reaction::stopped);
  EXPECT_EQ(diary, (log{"ended", "a destroyed"}));
}

struct kills_itself {
  explicit kills_itself(actor_context<kills_itself>& c) : self(c) {}
  task<void> handle(bool* told) {
    self.self().kill();
    *told = (co_await get_stop_token()).stop_requested();
  }
  actor_context<kills_itself>& self;
};

TEST(a_kill, asks_a_task_to_stop_that_has_not_suspended_yet) {
  bool told = false;
  spawn<kills_itself>({}).tell(&told);
  EXPECT_TRUE(told);
}

TEST(a_kill, reports_the_end_at_once_and_destroys_the_object_after_a_blocked_handler) {
  log diary;
  promise<void> entered, go_on;
  pending<void> may_go_on = go_on.get_pending();
  {
    stage s({.threads = 1});
    auto ref = s.spawn<recorder>({}, diary, "a");
    auto answer = ref.ask(call{[&] {
      entered.set();
      (void)may_go_on.get();
      diary.push_back("returned");
    }});
    auto queued = ref.ask(ask_length{});
    (void)entered.get_pending().get();
    ref.kill();
    EXPECT_EQ(ref.watch().get().value().kind, exit_kind::killed);
    EXPECT_EQ(answer.get().error().reaction(), reaction::stopped);
    EXPECT_EQ(queued.get().error().reaction(), reaction::stopped);
    go_on.set();
  }
  EXPECT_EQ(diary, (log{"returned", "a destroyed"})) << "the stage waits for the object";
}

TEST(an_actor_that_leaves, refuses_queued_messages) {
  manual_executor manual;
  log diary;
  auto ref = spawn<recorder>({.on = manual}, diary, "a");
  ref.tell(leave_now{});
  auto answer = ref.ask(ask_length{});
  manual.run();
  EXPECT_EQ(answer.get().error().reaction(), reaction::stopped);
  EXPECT_EQ(diary, (log{"a says normal", "a destroyed"}));
}

struct leaves_in_constructor {
  explicit leaves_in_constructor(actor_context<leaves_in_constructor>& self) { self.leave(); }
  void handle(crash) {}
};

TEST(an_actor_that_leaves, has_ended_when_spawn_returns_if_it_leaves_in_its_constructor) {
  auto ref = spawn<leaves_in_constructor>({});
  EXPECT_TRUE(ref.ended());
  EXPECT_EQ(ref.tell(crash{}).error().reaction(), reaction::stopped);
}

TEST(a_crash, calls_terminate_with_the_reason) {
  log diary;
  auto ref = spawn<recorder>({}, diary, "a");
  ref.tell(crash{});
  EXPECT_EQ(diary, (log{"a says crashed", "a destroyed"}));
}

TEST(an_actor_without_references, stops_when_it_has_handled_its_queued_messages) {
  manual_executor manual;
  log diary;
  {
    auto ref = spawn<recorder>({.on = manual}, diary, "a");
    ref.tell(note{"last"});
  }
  manual.run();
  EXPECT_EQ(diary, (log{"last", "a says normal", "a destroyed"}));
}

TEST(children, are_stopped_youngest_first_before_their_parents_end_is_reported) {
  log diary;
  auto parent = spawn<recorder>({}, diary, "parent");
  auto first = parent.ask(std::string("first")).get().value();
  auto second = parent.ask(std::string("second")).get().value();
  auto grandchild = second.ask(std::string("grandchild")).get().value();
  EXPECT_TRUE(parent.stop().get());
  EXPECT_EQ(diary,
            (log{"parent says normal", "second says shutdown", "grandchild says shutdown", "grandchild destroyed",
                 "second destroyed", "first says shutdown", "first destroyed", "parent destroyed"}));
  EXPECT_EQ(first.watch().get().value().kind, exit_kind::shutdown);
}

TEST(children, are_waited_for_if_they_stop_slowly) {
  log diary;
  promise<void> slowly;
  auto parent = spawn<recorder>({}, diary, "parent");
  auto child = parent.ask(std::string("child")).get().value();
  auto busy = child.ask(wait_for{slowly.get_pending()});
  auto stopped = parent.stop();
  EXPECT_FALSE(stopped.ready());
  slowly.set();
  EXPECT_TRUE(stopped.get());
  EXPECT_TRUE(busy.get());
}

TEST(children, are_killed_with_their_parent_even_while_it_is_stopping) {
  log diary;
  promise<void> slowly;
  auto parent = spawn<recorder>({}, diary, "parent");
  auto child = parent.ask(std::string("child")).get().value();
  child.tell(wait_for{slowly.get_pending()});
  auto stopped = parent.stop();
  EXPECT_FALSE(stopped.ready());
  parent.kill();
  EXPECT_TRUE(stopped.get());
  EXPECT_EQ(child.watch().get().value().kind, exit_kind::killed);
  EXPECT_EQ(parent.watch().get().value().kind, exit_kind::killed);
  slowly.set();
}

TEST(children, do_not_affect_their_parent_if_they_crash) {
  log diary;
  auto parent = spawn<recorder>({}, diary, "parent");
  auto child = parent.ask(std::string("child")).get().value();
  child.tell(crash{});
  EXPECT_TRUE(parent.ask(ask_length{}).get());
}

struct slow_terminate {
  task<void> terminate(exit_reason) { (void)co_await as_result(gate); }
  void handle(crash) {}
  pending<void> gate;
};

TEST(a_terminate_hook_that_is_a_task, is_waited_for_unless_the_actor_is_killed) {
  promise<void> gate, other;
  auto ref = spawn<slow_terminate>({}, gate.get_pending());
  auto stopped = ref.stop();
  EXPECT_FALSE(stopped.ready());
  gate.set();
  EXPECT_TRUE(stopped.get());
  auto killed = spawn<slow_terminate>({}, other.get_pending());
  auto end = killed.stop();
  killed.kill();
  EXPECT_TRUE(end.get());
  EXPECT_EQ(killed.watch().get().value().kind, exit_kind::killed);
  other.set();
}

struct throwing_terminate {
  void terminate(exit_reason) { throw std::runtime_error("terminate failed"); }
  void handle(crash) {}
};

struct terminate_by_rvalue {
  void terminate(exit_reason&& r) { *out = std::move(r); }
  exit_reason* out;
};
struct terminate_without_reason {
  void terminate() {}
};
struct terminate_by_reference {
  void terminate(exit_reason&) {}
};
struct no_terminate {};
static_assert(detail::has_terminate<terminate_by_rvalue> && !detail::has_other_terminate<terminate_by_rvalue>);
static_assert(detail::has_other_terminate<terminate_without_reason> &&
              detail::has_other_terminate<terminate_by_reference>);
static_assert(!detail::has_terminate<no_terminate> && !detail::has_other_terminate<no_terminate>);

TEST(a_terminate_hook, can_take_the_reason_by_rvalue_reference) {
  exit_reason reason{.kind = exit_kind::killed};
  EXPECT_TRUE(spawn<terminate_by_rvalue>({}, &reason).stop().get());
  EXPECT_EQ(reason.kind, exit_kind::normal);
}

TEST(a_terminate_hook_that_throws, turns_the_end_into_a_crash) {
  auto ref = spawn<throwing_terminate>({});
  EXPECT_TRUE(ref.stop().get());
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::crashed);
}

struct not_built {
  not_built(actor_context<not_built>& self, actor_ref<not_built>& out, pending<int>& answer) {
    out = self.self();
    answer = out.ask(crash{});
    throw std::runtime_error("the constructor failed");
  }
  int handle(crash) { return 1; }
};

TEST(a_constructor_that_throws, throws_from_spawn_and_messages_sent_meanwhile_are_answered) {
  actor_ref<not_built> ref;
  pending<int> answer;
  EXPECT_THROW((void)spawn<not_built>({}, ref, answer), std::runtime_error);
  EXPECT_EQ(answer.get().error().reaction(), reaction::fatal);
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::crashed);
}

TEST(a_cancelled_watch, is_answered_at_once) {
  log diary;
  auto ref = spawn<recorder>({}, diary, "a");
  auto watch = ref.watch();
  watch.cancel();
  EXPECT_EQ(watch.get().error().reaction(), reaction::retry_later);
}

// --- the stage ---

TEST(a_stage, stops_its_actors_last_spawned_first) {
  log diary;
  {
    stage s({.threads = 1});
    s.spawn<recorder>({}, diary, "a").tell(note{"hello"});
    s.spawn<recorder>({}, diary, "b");
  }
  const log tail(diary.end() - 2, diary.end());
  EXPECT_EQ(tail, (log{"a says shutdown", "a destroyed"}));
  EXPECT_EQ(diary.size(), 5u);
}

TEST(a_stage, kills_actors_that_do_not_end_within_its_close_timeout) {
  log diary;
  promise<void> never, begun;
  ASSERT_TRUE(never.on_cancel([&] { never.set(); }));
  {
    stage s({.close_timeout = std::chrono::nanoseconds(1)});
    s.spawn<recorder>({}, diary, "a").tell(wait_for{never.get_pending(), [&] { begun.set(); }});
    (void)begun.get_pending().get();
  }
  EXPECT_EQ(diary, (log{"a waited", "a destroyed"}));
}

TEST(references, may_outlive_stage_and_actor) {
  actor_ref<recorder> ref;
  log diary;
  {
    stage s;
    ref = s.spawn<recorder>({}, diary, "a");
  }
  EXPECT_EQ(ref.tell(note{"x"}).error().reaction(), reaction::stopped);
  EXPECT_EQ(ref.ask(ask_length{}).get().error().reaction(), reaction::stopped);
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::shutdown);
}

TEST(pendings_and_references, can_be_destroyed_in_any_order) {
  manual_executor manual;
  log diary;
  for (int order = 0; order < 6; ++order) {
    std::optional<actor_ref<recorder>> ref(spawn<recorder>({.on = manual}, diary, "a"));
    std::optional<pending<std::size_t>> answer(ref->ask(ask_length{}));
    std::optional<pending<exit_reason>> end(ref->watch());
    for (int step = 0, o = order; step < 3; ++step, o += 1 + order / 3) {
      if (o % 3 == 0) ref.reset();
      if (o % 3 == 1) answer.reset();
      if (o % 3 == 2) end.reset();
      if (order % 2) manual.run();
    }
    ref.reset();
    manual.run();
  }
  EXPECT_EQ(std::count(diary.begin(), diary.end(), "a destroyed"), 6);
}

TEST(an_actor_spawned_on_a_closed_stage, has_ended_at_once_and_has_no_object) {
  log diary;
  stage s;
  s.close();
  auto ref = s.spawn<recorder>({}, diary, "a");
  EXPECT_EQ(ref.tell(note{"x"}).error().reaction(), reaction::stopped);
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::shutdown);
  EXPECT_NE(ref.tell(note{"x"}).error().text().find("stage was closed"), std::string::npos);
  s.close();
  EXPECT_TRUE(diary.empty()) << "the object was not constructed";
}

}  // namespace
}  // namespace troupe
