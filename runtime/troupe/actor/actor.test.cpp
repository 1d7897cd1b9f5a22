// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <troupe/actor/spawn.hpp>
#include <troupe/actor/testing/manual_executor.hpp>
#include <troupe/async/promise.hpp>
#include <vector>

namespace troupe {
namespace {

using testing::manual_executor;

struct add {
  int amount;
};
struct get {};
struct fail {};
struct refuse_politely {};
struct give_up {};
struct slow {};
struct big {
  char bytes[300];
};
struct pinned {
  explicit pinned(int v) : value(v) {}
  pinned(pinned&& o) noexcept(false) : value(std::exchange(o.value, -1)) {}
  pinned(const pinned&) = default;
  int value;
};

struct counter {
  void handle(add m) { total += m.amount; }
  result<int> handle(get) { return total; }
  void handle(fail) { throw std::runtime_error("no more paper"); }
  result<int> handle(refuse_politely) { return error(reaction::retry_later, "test", "not now"); }
  result<int> handle(give_up) { return error(reaction::fatal, "test", "broken"); }
  int handle(const big& m) { return m.bytes[299]; }
  int handle(pinned m) { return m.value; }
  std::unique_ptr<int> handle(std::unique_ptr<int> m) { return m; }
  int total = 0;
};

TEST(an_actor, handles_tells_and_answers_asks) {
  auto ref = spawn<counter>({.name = "till"});
  EXPECT_TRUE(ref.tell(add{2}));
  EXPECT_TRUE(ref.tell(add{3}));
  EXPECT_EQ(ref.ask(get{}).get().value(), 5);
  EXPECT_EQ(ref.name(), "till");
}

TEST(an_actor, is_named_after_its_class_by_default) { EXPECT_EQ(spawn<counter>({}).name(), "counter"); }

TEST(an_actor, handles_large_move_only_and_throwing_messages) {
  auto ref = spawn<counter>({});
  big b{};
  b.bytes[299] = 9;
  EXPECT_EQ(ref.ask(b).get().value(), 9);
  EXPECT_EQ(ref.ask(pinned(4)).get().value(), 4);
  EXPECT_EQ(*ref.ask(std::make_unique<int>(6)).get().value(), 6);
}

TEST(an_actor, posts_one_job_for_any_number_of_waiting_messages) {
  manual_executor manual;
  auto ref = spawn<counter>({.on = manual});
  EXPECT_EQ(manual.waiting(), 0u) << "an idle actor posts no job";
  for (int i = 0; i < 10; ++i) ref.tell(add{1});
  EXPECT_EQ(manual.waiting(), 1u);
  EXPECT_EQ(manual.run(), 1);
  auto answer = ref.ask(get{});
  EXPECT_FALSE(answer.ready());
  manual.run();
  EXPECT_EQ(answer.get().value(), 10);
}

TEST(an_actor, lets_other_jobs_run_after_a_batch_of_messages) {
  manual_executor manual;
  auto busy = spawn<counter>({.mailbox = 4096, .on = manual});
  auto other = spawn<counter>({.on = manual});
  for (int i = 0; i < 1000; ++i) busy.tell(add{1});
  auto answer = other.ask(get{});
  manual.run_one();  // the first turn of `busy`
  manual.run_one();
  EXPECT_TRUE(answer.ready());
  EXPECT_GT(busy.queued(), 800u);
  manual.run();
  EXPECT_EQ(busy.queued(), 0u);
}

struct sends_to_itself {
  explicit sends_to_itself(actor_context<sends_to_itself>& c) : self(c) {}
  void handle(add m) {
    if (m.amount > 0) self.self().tell(add{m.amount - 1});
    ++handled;
  }
  int handle(get) { return handled; }
  actor_context<sends_to_itself>& self;
  int handled = 0;
};

TEST(an_actor, can_send_to_itself_on_the_inline_executor_without_growing_the_stack) {
  auto ref = spawn<sends_to_itself>({});
  ref.tell(add{200'000});
  EXPECT_EQ(ref.ask(get{}).get().value(), 200'001);
}

TEST(a_full_mailbox, refuses_messages_with_an_error_that_names_actor_capacity_and_remedy) {
  manual_executor manual;
  auto ref = spawn<counter>({.mailbox = 3, .on = manual, .name = "till"});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ref.tell(add{1}));
  const accepted told = ref.tell(add{1});
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().reaction(), reaction::retry_later);
  for (const char* part : {"till", "capacity 3", "actor_options::mailbox"})
    EXPECT_NE(told.error().text().find(part), std::string::npos) << told.error().text();
  auto asked = ref.ask(get{});
  ASSERT_TRUE(asked.ready()) << "a refused ask is answered at once";
  EXPECT_EQ(asked.get().error().reaction(), reaction::retry_later);
  manual.run();
  EXPECT_TRUE(ref.tell(add{1}));
  manual.run();
}

TEST(a_full_mailbox, leaves_a_refused_message_unchanged) {
  manual_executor manual;
  auto ref = spawn<counter>({.mailbox = 1, .on = manual});
  ref.tell(add{1});
  auto message = std::make_unique<int>(5);
  EXPECT_FALSE(ref.tell(std::move(message)));
  ASSERT_TRUE(message);
  manual.run();
}

TEST(a_mailbox_of_capacity_1, accepts_a_message_when_the_answer_to_the_last_one_arrives) {
  auto ref = spawn<counter>({.mailbox = 1});
  int answers = 0;
  auto last = ref.ask(get{}).then([&](result<int>) {
    ++answers;
    return ref.ask(get{}).get().value();
  });
  EXPECT_EQ(last.get().value(), 0);
  EXPECT_EQ(answers, 1);
}

TEST(an_empty_reference, refuses_messages_with_an_error) {
  const actor_ref<counter> none;
  EXPECT_EQ(none.tell(add{1}).error().reaction(), reaction::caller_bug);
  EXPECT_EQ(none.ask(get{}).get().error().reaction(), reaction::caller_bug);
  EXPECT_FALSE(none.stop().get());
  EXPECT_FALSE(none.watch().get());
  none.kill();
}

TEST(a_handler, can_return_an_error_that_is_not_fatal_and_its_actor_continues) {
  auto ref = spawn<counter>({});
  EXPECT_EQ(ref.ask(refuse_politely{}).get().error().text(), "not now");
  EXPECT_TRUE(ref.ask(get{}).get());
}

TEST(a_handler, answers_with_a_fatal_error_and_crashes_the_actor_if_it_throws) {
  manual_executor manual;
  auto ref = spawn<counter>({.on = manual, .name = "printer"});
  auto ended = ref.watch();
  auto first = ref.ask(fail{});
  auto queued = ref.ask(get{});
  manual.run();
  const auto answer = first.get();
  EXPECT_EQ(answer.error().reaction(), reaction::fatal);
  EXPECT_NE(answer.error().text().find("no more paper"), std::string::npos);
  const auto behind = queued.get();
  EXPECT_EQ(behind.error().reaction(), reaction::fatal);
  EXPECT_NE(behind.error().text().find("printer"), std::string::npos) << behind.error().text();
  const exit_reason reason = ended.get().value();
  EXPECT_EQ(reason.kind, exit_kind::crashed);
  EXPECT_EQ(reason.actor, "printer");
  EXPECT_EQ(reason.id, ref.id());
  ASSERT_TRUE(reason.cause);
  EXPECT_NE(reason.cause->text().find("no more paper"), std::string::npos);
  EXPECT_EQ(ref.ask(get{}).get().error().reaction(), reaction::stopped);
}

TEST(a_handler, crashes_the_actor_if_it_throws_on_a_tell_or_returns_a_fatal_error) {
  auto told = spawn<counter>({});
  told.tell(fail{});
  EXPECT_EQ(told.watch().get().value().kind, exit_kind::crashed);
  auto asked = spawn<counter>({});
  EXPECT_EQ(asked.ask(give_up{}).get().error().text(), "broken");
  EXPECT_EQ(asked.watch().get().value().kind, exit_kind::crashed);
}

TEST(a_sender_that_was_answered_with_a_crash, finds_the_mailbox_closed) {
  auto ref = spawn<counter>({});
  std::optional<accepted> later;
  auto done = ref.ask(fail{}).then([&](result<void>) { later = ref.tell(add{1}); });
  (void)done.get();
  EXPECT_EQ(later->error().reaction(), reaction::stopped);
}

TEST(a_cancelled_ask, is_answered_at_once_with_the_cancellation) {
  manual_executor manual;
  auto ref = spawn<counter>({.on = manual});
  auto answer = ref.ask(std::make_unique<int>(1));
  auto total = ref.ask(get{});
  answer.cancel();
  EXPECT_TRUE(answer.ready());
  manual.run();
  EXPECT_EQ(answer.get().error().reaction(), reaction::retry_later);
  EXPECT_TRUE(total.get());
}

// --- tasks ---

struct waiting_actor {
  explicit waiting_actor(pending<int> v) : visitor(std::move(v)) {}
  task<result<int>> handle(slow) {
    const int v = co_await visitor;
    co_return v + total;
  }
  task<void> handle(fail) {
    throw std::runtime_error("in a task");
    co_return;
  }
  task<int> handle(const std::string& text) {
    const auto v = co_await as_result(visitor);
    co_return static_cast<int>(text.size()) + v.value();
  }
  task<result<int>> handle(big) { co_return co_await std::move(visitor).cancel_on(co_await get_stop_token()); }
  void handle(add m) { total += m.amount; }
  pending<int> visitor;
  int total = 0;
};

TEST(a_handler_that_is_a_task, keeps_its_actor_busy_until_it_ends) {
  promise<int> door;
  auto ref = spawn<waiting_actor>({}, door.get_pending());
  auto answer = ref.ask(slow{});
  ref.tell(add{100});
  EXPECT_FALSE(answer.ready());
  EXPECT_EQ(ref.queued(), 2u);
  door.set(7);
  EXPECT_EQ(answer.get().value(), 7) << "the addition is handled afterwards";
  EXPECT_EQ(ref.queued(), 0u);
}

TEST(a_handler_that_is_a_task, resumes_on_the_executor_of_its_actor) {
  manual_executor manual;
  promise<int> door;
  auto ref = spawn<waiting_actor>({.on = manual}, door.get_pending());
  auto answer = ref.ask(slow{});
  manual.run();
  door.set(7);
  EXPECT_FALSE(answer.ready());
  manual.run();
  EXPECT_EQ(answer.get().value(), 7);
}

TEST(a_handler_that_is_a_task, can_take_its_message_by_reference) {
  promise<int> door;
  auto ref = spawn<waiting_actor>({}, door.get_pending());
  auto answer = ref.ask(std::string("a text that is too long to be stored in place"));
  door.set(1000);
  EXPECT_EQ(answer.get().value(), 1045);
}

TEST(a_handler_that_is_a_task, crashes_the_actor_when_it_throws) {
  promise<int> door;
  auto ref = spawn<waiting_actor>({}, door.get_pending());
  EXPECT_EQ(ref.ask(fail{}).get().error().reaction(), reaction::fatal);
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::crashed);
  auto told = spawn<waiting_actor>({}, promise<int>().get_pending());
  told.tell(fail{});
  EXPECT_EQ(told.watch().get().value().kind, exit_kind::crashed);
}

struct throws_ordinary_errors {
  task<void> handle(fail) {
    throw bad_result(error(reaction::retry_later, "test", "not now"));
    co_return;
  }
  task<int> handle(get) {
    throw bad_result(error(reaction::retry_later, "test", "not now"));
    co_return 1;
  }
};

TEST(a_handler_that_is_a_task, crashes_the_actor_if_it_throws_even_an_ordinary_error_and_returns_no_result) {
  auto told = spawn<throws_ordinary_errors>({});
  told.tell(fail{});
  EXPECT_TRUE(told.ended());
  auto asked = spawn<throws_ordinary_errors>({});
  EXPECT_EQ(asked.ask(get{}).get().error().reaction(), reaction::retry_later);
  EXPECT_EQ(asked.watch().get().value().kind, exit_kind::crashed);
}

TEST(a_handler_that_is_a_task, is_asked_to_stop_when_the_ask_is_cancelled) {
  promise<int> door;
  auto ref = spawn<waiting_actor>({}, door.get_pending());
  auto answer = ref.ask(big{});
  EXPECT_FALSE(door.cancel_requested());
  answer.cancel();
  EXPECT_TRUE(door.cancel_requested());
  door.set(cancelled("the visit"));
  EXPECT_EQ(answer.get().error().reaction(), reaction::retry_later);
}

// --- piping and watching ---

struct observer {
  explicit observer(actor_context<observer>& c) : self(c) {}
  void handle(actor_ref<counter> who) { self.watch(who); }
  void handle(down d) { downs.push_back(d.reason.to_string()); }
  void handle(pending<int> p) {
    self.pipe(std::move(p), [](result<int> r) { return add{r ? *r : -1}; });
  }
  void handle(add m) { total += m.amount; }
  std::vector<std::string> handle(get) { return downs; }
  int handle(slow) { return total; }
  actor_context<observer>& self;
  std::vector<std::string> downs;
  int total = 0;
};

TEST(an_actor_that_watches, gets_the_end_of_the_other_actor_as_a_message) {
  auto patient = spawn<counter>({.name = "patient"});
  auto ref = spawn<observer>({});
  ref.tell(patient);
  EXPECT_TRUE(ref.ask(get{}).get().value().empty());
  patient.kill();
  const auto downs = ref.ask(get{}).get().value();
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0], "patient #" + std::to_string(patient.id()) + " was killed");
  ref.tell(patient);  // the actor has ended already
  EXPECT_EQ(ref.ask(get{}).get().value().size(), 2u);
}

TEST(an_actor_that_watches, an_empty_reference_gets_a_message_with_a_crash_and_its_cause) {
  auto ref = spawn<observer>({});
  ref.tell(actor_ref<counter>());
  const auto downs = ref.ask(get{}).get().value();
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].find("empty reference #0 crashed: caller_bug"), 0u) << downs[0];
}

TEST(a_piped_answer, arrives_as_a_message_even_if_the_mailbox_is_full) {
  manual_executor manual;
  promise<int> door;
  auto ref = spawn<observer>({.mailbox = 1, .on = manual});
  ref.tell(door.get_pending());
  manual.run();
  auto total = ref.ask(slow{});
  door.set(41);
  EXPECT_FALSE(ref.tell(add{1}));
  manual.run();
  EXPECT_EQ(total.get().value(), 41) << "ahead of the mailbox";
}

TEST(a_piped_pending, is_cancelled_when_its_actor_ends) {
  promise<int> door;
  auto ref = spawn<observer>({});
  ref.tell(door.get_pending());
  ref.kill();
  EXPECT_TRUE(door.cancel_requested());
}

}  // namespace
}  // namespace troupe
