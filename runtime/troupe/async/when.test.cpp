// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <troupe/async/promise.hpp>
#include <troupe/async/thread_pool.hpp>
#include <troupe/async/when.hpp>

namespace troupe {
namespace {

task<int> note_down(std::vector<int>* order, int i) {
  order->push_back(i);
  co_return i;
}

TEST(when_all, starts_tasks_in_order) {
  std::vector<int> order;
  (void)when_all(note_down(&order, 1), note_down(&order, 2), note_down(&order, 3)).get();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

const error closed(reaction::stopped, "test", "closed");

task<result<std::string>> text() { co_return "text"; }
task<int> plain() { co_return 3; }

TEST(when_all, waits_for_all_sources_and_returns_each_result) {
  promise<int> p;
  promise<void> v;
  auto all = when_all(p.get_pending(), v.get_pending(), text(), plain());
  v.set(closed);
  EXPECT_FALSE(all.ready());
  p.set(1);
  ASSERT_TRUE(all.ready());
  auto [number, nothing, words, three] = *all.get();
  EXPECT_EQ(*number, 1);
  EXPECT_EQ(nothing.error().text(), "closed");
  EXPECT_EQ(*words, "text");
  EXPECT_EQ(*three, 3);
}

TEST(when_all, accepts_a_vector_and_keeps_its_order) {
  std::vector<promise<int>> promises(5);
  std::vector<pending<int>> sources;
  for (auto& p : promises) sources.push_back(p.get_pending());
  auto all = when_all(std::move(sources));
  for (int i = 4; i >= 0; --i) {
    EXPECT_FALSE(all.ready());
    promises[static_cast<std::size_t>(i)].set(i);
  }
  const auto answers = *all.get();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*answers[static_cast<std::size_t>(i)], i);
}

TEST(when_all, is_answered_at_once_if_there_are_no_pendings) {
  EXPECT_TRUE(when_all(std::vector<pending<int>>()).get()->empty());
}

TEST(when_all, reports_an_empty_pending_as_a_caller_bug_at_its_index) {
  auto [a, b] = *when_all(pending<int>(), make_ready<int>(2)).get();
  EXPECT_EQ(a.error().reaction(), reaction::caller_bug);
  EXPECT_EQ(*b, 2);
}

TEST(when_all, cancels_all_sources_when_it_is_cancelled) {
  promise<int> a, b;
  auto all = when_all(a.get_pending(), b.get_pending());
  all.cancel();
  EXPECT_TRUE(a.cancel_requested());
  EXPECT_TRUE(b.cancel_requested());
}

TEST(when_any, is_answered_by_the_first_and_detaches_the_others) {
  promise<int> a, b;
  auto any = when_any(a.get_pending(), b.get_pending());
  EXPECT_FALSE(any.ready());
  b.set(closed);
  auto first = *any.get();
  EXPECT_EQ(first.index, 1u);
  EXPECT_EQ(first.answer.error().text(), "closed");
  EXPECT_FALSE(a.cancel_requested());
  EXPECT_TRUE(a.set(1));
}

TEST(when_any, prefers_the_first_of_two_sources_that_are_ready) {
  auto first = *when_any(make_ready<int>(1), make_ready<int>(2)).get();
  EXPECT_EQ(first.index, 0u);
  EXPECT_EQ(*first.answer, 1);
}

TEST(when_any, fails_with_a_caller_bug_if_there_are_no_pendings) {
  EXPECT_EQ(when_any(std::vector<pending<int>>()).get().error().reaction(), reaction::caller_bug);
}

TEST(when, gathers_answers_from_many_threads) {
  thread_pool pool(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<pending<int>> for_all, for_any;
    for (int i = 0; i < 8; ++i) {
      for_all.push_back(start(pool, [](int x) -> task<int> { co_return x; }(i)));
      for_any.push_back(start(pool, [](int x) -> task<int> { co_return x; }(i)));
    }
    auto any = when_any(std::move(for_any));
    const auto all = *when_all(std::move(for_all)).get();
    for (int i = 0; i < 8; ++i) ASSERT_EQ(*all[static_cast<std::size_t>(i)], i);
    const auto first = *any.get();
    ASSERT_EQ(static_cast<int>(first.index), *first.answer);
  }
}

TEST(when, can_be_awaited_in_a_task) {
  auto body = []() -> task<result<int>> {
    auto [a, b] = co_await when_all(plain(), plain());
    const auto first = co_await when_any(make_ready<int>(10), make_ready<int>(20));
    co_return *a + *b + *first.answer;
  };
  EXPECT_EQ(*sync_wait(body()), 16);
}

}  // namespace
}  // namespace troupe
