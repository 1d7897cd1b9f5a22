// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>
#include <troupe/async/answers/deferred_continuations.hpp>
#include <troupe/async/promise.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(deferred_continuations, run_when_they_are_posted_and_in_order) {
  std::vector<int> seen;
  promise<int> first, second;
  first.get_pending().then([&](result<int> r) { seen.push_back(*r); }).detach();
  second.get_pending().then([&](result<int> r) { seen.push_back(*r); }).detach();
  job* list;
  {
    deferred_continuations kept;
    first.set(1);
    second.set(2);
    EXPECT_TRUE(seen.empty());
    list = kept.take();
  }
  post_all(list);
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST(deferred_continuations, are_kept_only_for_answers_set_on_the_same_thread) {
  promise<int> answer;
  bool ran = false;
  answer.get_pending().then([&](result<int>) { ran = true; }).detach();
  deferred_continuations kept;
  std::thread([&] { answer.set(1); }).join();
  EXPECT_TRUE(ran);
  EXPECT_EQ(kept.take(), nullptr);
}

TEST(deferred_continuations, run_at_once_on_the_immediate_executor) {
  promise<int> answer;
  bool ran = false;
  answer.get_pending().then(immediate_executor(), [&](result<int>) { ran = true; }).detach();
  deferred_continuations kept;
  answer.set(1);
  EXPECT_TRUE(ran);
  EXPECT_EQ(kept.take(), nullptr);
}

TEST(deferred_continuations, can_be_nested) {
  promise<int> outer_answer, inner_answer;
  std::vector<int> seen;
  outer_answer.get_pending().then([&](result<int>) { seen.push_back(1); }).detach();
  inner_answer.get_pending().then([&](result<int>) { seen.push_back(2); }).detach();
  deferred_continuations outer;
  {
    deferred_continuations inner;
    inner_answer.set(1);
    post_all(inner.take());
    EXPECT_EQ(seen, (std::vector<int>{2}));
  }
  outer_answer.set(1);
  EXPECT_EQ(seen, (std::vector<int>{2}));
  job* list = outer.take();
  ASSERT_NE(list, nullptr);
  post_all(list);
  EXPECT_EQ(seen, (std::vector<int>{2, 1}));
}

}  // namespace
}  // namespace troupe
