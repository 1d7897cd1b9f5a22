// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <memory>
#include <string>
#include <thread>
#include <troupe/async/pending.hpp>
#include <troupe/async/promise.hpp>
#include <vector>

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Keeps posted jobs until the test runs them.
class manual_executor final : public executor {
 public:
  void post(job& work) noexcept override { jobs_.push_back(&work); }
  std::size_t run_all() {
    std::size_t ran = 0;
    while (!jobs_.empty()) {
      job* next = jobs_.front();
      jobs_.erase(jobs_.begin());
      next->run(next);
      ++ran;
    }
    return ran;
  }

 private:
  std::vector<job*> jobs_;
};

/// A coroutine type that does not come from this library.
struct fire_and_forget {
  struct promise_type {
    fire_and_forget get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

TEST(pending, returns_the_answer_of_its_promise) {
  promise<std::string> p;
  pending<std::string> q = p.get_pending();
  EXPECT_FALSE(q.ready());
  EXPECT_TRUE(p.set(std::string("hello")));
  EXPECT_TRUE(q.ready());
  EXPECT_EQ(*q.get(), "hello");
}

TEST(pending, blocks_in_get_until_another_thread_answers) {
  promise<int> p;
  pending<int> q = p.get_pending();
  std::jthread producer([&] {
    while (!q.state()->has_blocked_waiter()) std::this_thread::yield();
    p.set(5);
  });
  EXPECT_EQ(*q.get(), 5);
  EXPECT_FALSE(q.state()->has_blocked_waiter());
}

TEST(pending, can_be_taken_after_get_for_has_timed_out) {
  promise<int> p;
  pending<int> q = p.get_pending();
  EXPECT_FALSE(q.get_for(0s).has_value());
  EXPECT_FALSE(q.get_for(2ms).has_value());
  EXPECT_FALSE(q.get_until(std::chrono::steady_clock::now() + 1ms).has_value());
  EXPECT_FALSE(q.get_until(now_ns() + 1000).has_value());
  p.set(3);
  const auto answer = q.get_for(std::chrono::hours::max());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(**answer, 3);
}

TEST(pending, fails_with_a_caller_bug_if_it_is_taken_twice) {
  pending<int> q = make_ready<int>(1);
  EXPECT_EQ(*q.get(), 1);
  const auto again = q.get();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reaction(), reaction::caller_bug);
  EXPECT_NE(again.error().text().find("taken before"), std::string::npos) << again.error().text();
}

TEST(pending, fails_at_once_with_a_caller_bug_if_it_is_empty) {
  pending<int> q = make_ready<int>(1);
  pending<int> moved = std::move(q);
  EXPECT_FALSE(q.valid());
  EXPECT_TRUE(q.ready());
  EXPECT_EQ(q.get().error().reaction(), reaction::caller_bug);
  EXPECT_EQ(std::move(q).then([](result<int> r) { return r; }).get().error().reaction(), reaction::caller_bug);
  EXPECT_EQ(*moved.get(), 1);
}

TEST(promise, ignores_all_answers_but_the_first) {
  promise<int> p;
  pending<int> q = p.get_pending();
  EXPECT_TRUE(p.set(1));
  EXPECT_FALSE(p.set(2));
  EXPECT_EQ(*q.get(), 1);
}

promise<int> made_here() { return {}; }

TEST(promise, destroyed_without_an_answer_fails_with_the_place_where_it_was_created) {
  pending<int> q;
  {
    promise<int> other, p = made_here();
    other = std::move(p);
    q = other.get_pending();
  }
  const auto answer = q.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reaction(), reaction::fatal);
  const std::string& text = answer.error().text();
  EXPECT_NE(text.find("made_here"), std::string::npos) << text;
  EXPECT_NE(text.find("pending.test.cpp:" + std::to_string(answer.error().source().line())), std::string::npos) << text;
  EXPECT_NE(text.find("without an answer"), std::string::npos) << text;
}

TEST(promise, returns_its_pending_only_once) {
  promise<void> p;
  pending<void> first = p.get_pending();
  EXPECT_FALSE(p.get_pending().valid());
  p.set();
  EXPECT_TRUE(first.get());
}

TEST(promise, keeps_the_state_of_a_destroyed_pending_until_it_is_answered) {
  auto value = std::make_shared<int>(7);
  promise<std::shared_ptr<int>> p;
  p.get_pending().detach();
  EXPECT_TRUE(p.set(value));
  EXPECT_EQ(value.use_count(), 2);
  p = {};
  EXPECT_EQ(value.use_count(), 1);
}

TEST(promise, can_be_destroyed_by_the_continuation_of_its_answer) {
  auto p = std::make_unique<promise<int>>();
  int seen = 0;
  p->get_pending()
      .then([&](result<int> r) {
        seen = *r;
        p.reset();
      })
      .detach();
  p->set(4);
  EXPECT_EQ(seen, 4);
}

TEST(then, passes_on_values_errors_results_and_void) {
  promise<int> p;
  auto q = p.get_pending()
               .then([](result<int> r) -> result<int> {
                 if (!r) return r.error();
                 return *r + 1;
               })
               .then([](result<int> r) { return std::to_string(*r); });
  static_assert(std::is_same_v<decltype(q), pending<std::string>>);
  p.set(41);
  EXPECT_EQ(*q.get(), "42");
  bool called = false;
  pending<void> done =
      make_ready<int>(error(reaction::stopped, "test", "closed")).then([&](result<int> r) { called = !r; });
  EXPECT_TRUE(done.get());
  EXPECT_TRUE(called);
}

TEST(then, turns_an_exception_into_a_fatal_error) {
  auto q = make_ready<int>(1).then([](result<int>) -> int { throw std::runtime_error("broken"); });
  const auto answer = q.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reaction(), reaction::fatal);
  EXPECT_NE(answer.error().text().find("broken"), std::string::npos);
}

TEST(then, runs_on_the_given_executor_even_if_the_answer_is_there) {
  manual_executor mine;
  promise<int> p;
  int calls = 0;
  auto later = p.get_pending().then(mine, [&](result<int>) { ++calls; });
  auto now = make_ready<int>(1).then(mine, [&](result<int>) { ++calls; });
  p.set(1);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(now.ready());
  EXPECT_EQ(mine.run_all(), 2u);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(later.ready());
}

TEST(then, destroys_its_function_after_the_call) {
  auto held = std::make_shared<int>(1);
  promise<int> p;
  auto q = p.get_pending().then([held](result<int>) {});
  EXPECT_EQ(held.use_count(), 2);
  p.set(1);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(q.ready());
}

fire_and_forget await_into(pending<int> q, std::optional<result<int>>& out) { out = co_await std::move(q); }
fire_and_forget await_lvalue(pending<int>& q, std::optional<result<int>>& out) { out = co_await q; }

TEST(pending, can_be_awaited_in_any_coroutine) {
  std::optional<result<int>> ready, later, empty;
  await_into(make_ready<int>(1), ready);
  ASSERT_TRUE(ready.has_value());
  EXPECT_EQ(**ready, 1);
  promise<int> p;
  await_into(p.get_pending(), later);
  EXPECT_FALSE(later.has_value());
  p.set(2);
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(**later, 2);
  await_into({}, empty);
  EXPECT_EQ(empty->error().reaction(), reaction::caller_bug);
}

TEST(pending, fails_with_a_caller_bug_in_a_second_coroutine_that_awaits_it) {
  std::optional<result<int>> first, second;
  promise<int> p;
  pending<int> q = p.get_pending();
  await_lvalue(q, first);
  await_lvalue(q, second);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->error().reaction(), reaction::caller_bug);
  p.set(9);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(**first, 9);
}

}  // namespace
}  // namespace troupe
