// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <thread>
#include <troupe/async/promise.hpp>
#include <troupe/async/task.hpp>

namespace troupe {
namespace {

TEST(cancellation, runs_the_hook_once_if_the_consumer_cancels_repeatedly) {
  promise<int> p;
  auto q = p.get_pending();
  int hooks = 0;
  EXPECT_TRUE(p.on_cancel([&] {
    ++hooks;
    p.set(cancelled("the work"));
  }));
  EXPECT_FALSE(p.on_cancel([&] { hooks += 100; })) << "a hook is installed already";
  EXPECT_FALSE(p.cancel_requested());
  q.cancel();
  q.cancel();
  EXPECT_TRUE(p.cancel_requested());
  EXPECT_EQ(hooks, 1);
  const auto answer = q.get();
  EXPECT_EQ(answer.error().reaction(), reaction::retry_later);
  EXPECT_EQ(answer.error().text(), "the work was cancelled before it completed");
}

TEST(cancellation, runs_a_hook_at_once_if_it_is_installed_after_the_cancel) {
  promise<int> p;
  auto q = p.get_pending();
  q.cancel();
  int hooks = 0;
  p.on_cancel([&] { ++hooks; });
  EXPECT_EQ(hooks, 1);
}

TEST(cancellation, discards_the_hook_when_the_promise_has_an_answer) {
  auto held = std::make_shared<int>(0);
  promise<int> p;
  auto q = p.get_pending();
  p.on_cancel([held] { ++*held; });
  p.set(1);
  EXPECT_EQ(held.use_count(), 1);
  q.cancel();
  p.on_cancel([held] { ++*held; });
  EXPECT_EQ(*held, 0);
}

TEST(cancellation, happens_at_a_stop_of_any_of_several_tokens) {
  for (const bool first : {true, false}) {
    std::stop_source one, other;
    promise<int> p;
    auto q = p.get_pending().cancel_on(one.get_token()).cancel_on(other.get_token());
    EXPECT_FALSE(p.cancel_requested());
    (first ? one : other).request_stop();
    EXPECT_TRUE(p.cancel_requested());
  }
}

TEST(cancellation, happens_at_a_stop_while_the_pending_waits) {
  std::stop_source stop;
  promise<int> p, dropped, late;
  auto q = p.get_pending().cancel_on(stop.get_token());
  {
    auto gone = dropped.get_pending().cancel_on(stop.get_token());
  }
  auto chained = late.get_pending().cancel_on(stop.get_token()).then([](result<int> r) { return r; });
  stop.request_stop();
  EXPECT_TRUE(p.cancel_requested());
  EXPECT_TRUE(late.cancel_requested());
  EXPECT_FALSE(dropped.cancel_requested());
}

TEST(cancellation, happens_at_once_if_the_stop_was_requested_before) {
  std::stop_source stop;
  stop.request_stop();
  promise<int> p;
  auto q = p.get_pending().cancel_on(stop.get_token());
  EXPECT_TRUE(p.cancel_requested());
}

task<result<int>> stoppable(pending<int> q) {
  const std::stop_token token = co_await get_stop_token();
  co_return co_await std::move(q).cancel_on(token);
}
task<result<int>> parent_of_stoppable(pending<int> q) { co_return co_await stoppable(std::move(q)); }

TEST(cancellation, reaches_the_pendings_that_the_children_of_a_started_task_wait_for) {
  promise<int> p;
  p.on_cancel([&] { p.set(cancelled("the work")); });
  auto q = start(parent_of_stoppable(p.get_pending()));
  EXPECT_FALSE(q.ready());
  q.cancel();
  EXPECT_EQ(q.get().error().reaction(), reaction::retry_later);
}

TEST(cancellation, happens_at_a_stop_of_the_token_passed_to_start) {
  for (bool stopped_before : {false, true}) {
    std::stop_source stop;
    promise<int> p;
    p.on_cancel([&] { p.set(cancelled("the work")); });
    if (stopped_before) stop.request_stop();
    auto q = start(stoppable(p.get_pending()), stop.get_token());
    EXPECT_EQ(q.ready(), stopped_before);
    stop.request_stop();
    EXPECT_EQ(q.get().error().reaction(), reaction::retry_later);
  }
}

TEST(cancellation, ends_the_task_also_if_an_answer_comes_at_the_same_time) {
  for (int round = 0; round < 2000; ++round) {
    std::stop_source stop;
    promise<int> p;
    p.on_cancel([&] { p.set(cancelled("the work")); });
    auto q = start(stoppable(p.get_pending()), stop.get_token());
    std::jthread other([&] { stop.request_stop(); });
    p.set(1);
    const auto answer = q.get();
    ASSERT_TRUE(answer ? *answer == 1 : answer.error().reaction() == reaction::retry_later);
  }
}

TEST(cancellation, is_safe_if_it_destroys_the_last_owner_of_the_pending) {
  std::stop_source stop;
  auto p = std::make_unique<promise<int>>();
  p->on_cancel([&] { p->set(cancelled("the work")); });
  bool ended = false;
  start(stoppable(p->get_pending()), stop.get_token())
      .then([&](result<int>) {
        p.reset();
        ended = true;
      })
      .detach();
  stop.request_stop();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace troupe
