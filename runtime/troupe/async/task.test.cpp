// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <troupe/async/promise.hpp>
#include <troupe/async/task.hpp>
#include <vector>

namespace troupe {
namespace {

const error closed(reaction::stopped, "test", "closed");

/// Sets a flag when it is destroyed.
struct witness {
  explicit witness(bool& gone) : gone(&gone) {}
  witness(witness&& o) noexcept : gone(std::exchange(o.gone, nullptr)) {}
  ~witness() {
    if (gone) *gone = true;
  }
  bool* gone;
};

class manual_executor final : public executor {
 public:
  void post(job& work) noexcept override { jobs_.push_back(&work); }
  bool run_one() {
    if (jobs_.empty()) return false;
    job* next = jobs_.front();
    jobs_.erase(jobs_.begin());
    next->run(next);
    return true;
  }
  std::size_t waiting() const { return jobs_.size(); }

 private:
  std::vector<job*> jobs_;
};

task<int> plain(int x) { co_return x; }
task<result<int>> good(int x) { co_return x; }
task<result<int>> bad() { co_return closed; }
task<result<std::string>> text() { co_return "a text that is converted to a string"; }
task<result<void>> nothing() { co_return {}; }
task<int> throws() {
  throw std::runtime_error("broken");
  co_return 1;
}

TEST(task, does_nothing_until_it_is_started) {
  bool ran = false;
  auto body = [](bool& flag) -> task<void> {
    flag = true;
    co_return;
  };
  auto t = body(ran);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(start(std::move(t)).ready());
  EXPECT_TRUE(ran);
}

TEST(task, destroys_its_parameters_if_it_is_never_started) {
  bool gone = false;
  auto body = [](witness) -> task<void> { co_return; };
  {
    auto t = body(witness(gone));
  }
  EXPECT_TRUE(gone);
}

TEST(task, starting_returns_a_pending_of_the_value_for_a_plain_type_and_for_a_result) {
  pending<int> a = start(plain(1)), b = start(good(2));
  EXPECT_EQ(*a.get(), 1);
  EXPECT_EQ(*b.get(), 2);
  EXPECT_EQ(*sync_wait(text()), "a text that is converted to a string");
  EXPECT_TRUE(sync_wait(nothing()));
  EXPECT_EQ(sync_wait(bad()).error().text(), "closed");
}

TEST(task, unwraps_the_results_of_pendings_tasks_and_results_that_it_awaits) {
  auto body = [](pending<int> q) -> task<result<int>> {
    const int a = co_await good(1);
    const int b = co_await plain(2);
    const int c = co_await std::move(q);
    const int d = co_await result<int>(4);
    co_await nothing();
    co_return a * 1000 + b * 100 + c * 10 + d;
  };
  promise<int> p;
  auto q = start(body(p.get_pending()));
  EXPECT_FALSE(q.ready());
  p.set(3);
  EXPECT_EQ(*q.get(), 1234);
}

TEST(task, ends_at_an_awaited_error_and_destroys_its_locals) {
  bool local_gone = false, went_on = false;
  auto body = [](pending<int> q, bool& gone, bool& after) -> task<result<std::string>> {
    const witness local(gone);
    co_await std::move(q);
    after = true;
    co_return "never";
  };
  for (bool answer_first : {true, false}) {
    local_gone = went_on = false;
    promise<int> p;
    if (answer_first) p.set(closed);
    auto q = start(body(p.get_pending(), local_gone, went_on));
    EXPECT_EQ(local_gone, answer_first);
    p.set(closed);
    EXPECT_TRUE(local_gone);
    EXPECT_FALSE(went_on);
    EXPECT_EQ(q.get().error().text(), "closed");
  }
}

TEST(task, ends_all_its_parents_on_an_error_and_destroys_innermost_locals_first) {
  struct note {
    std::vector<int>* out;
    int depth;
    ~note() { out->push_back(depth); }
  };
  struct recursion {
    static task<result<int>> go(int depth, std::vector<int>& order, pending<int> q) {
      const note n{&order, depth};
      if (depth == 0) co_return co_await std::move(q);
      co_return co_await go(depth - 1, order, std::move(q));
    }
  };
  std::vector<int> order;
  promise<int> p;
  auto q = start(recursion::go(3, order, p.get_pending()));
  p.set(closed);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(q.get().error().text(), "closed");
}

TEST(task, continues_after_as_result_returned_an_error) {
  auto body = [](pending<int> q) -> task<result<std::string>> {
    const result<int> a = co_await as_result(bad());
    const result<int> b = co_await as_result(q);
    const result<int> c = co_await as_result(good(1));
    co_return a.error().text() + " " + b.error().text() + " " + std::to_string(*c);
  };
  EXPECT_EQ(*sync_wait(body(make_ready<int>(closed))), "closed closed 1");
}

TEST(task, ends_at_an_awaited_result_that_holds_an_error) {
  auto body = []() -> task<result<int>> { co_return co_await result<int>(closed); };
  EXPECT_EQ(sync_wait(body()).error().text(), "closed");
}

TEST(task, gets_results_from_co_await_if_its_type_is_not_a_result) {
  auto body = [](pending<int> q) -> task<std::string> {
    const result<int> a = co_await std::move(q);
    const result<int> b = co_await bad();
    const int c = co_await plain(3);
    co_return a.error().text() + b.error().text() + std::to_string(c);
  };
  EXPECT_EQ(*sync_wait(body(make_ready<int>(closed))), "closedclosed3");
}

TEST(task, turns_exceptions_into_errors_or_rethrows_them_in_the_awaiting_task) {
  auto of_result = []() -> task<result<int>> { co_return co_await throws(); };
  const auto r = sync_wait(of_result());
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().reaction(), reaction::fatal);
  EXPECT_EQ(r.error().domain(), "task");
  EXPECT_NE(r.error().text().find("broken"), std::string::npos);

  auto catching = []() -> task<std::string> {
    try {
      co_await throws();
    } catch (const std::runtime_error& e) {
      co_return e.what();
    }
    co_return "nothing thrown";
  };
  EXPECT_EQ(*sync_wait(catching()), "broken");
  EXPECT_EQ(sync_wait(throws()).error().reaction(), reaction::fatal);
}

TEST(task, turns_a_bad_result_into_the_error_it_holds) {
  auto body = []() -> task<result<int>> { co_return result<int>(closed).value(); };
  EXPECT_EQ(sync_wait(body()).error().reaction(), reaction::stopped);
}

TEST(task, fails_with_a_caller_bug_if_it_is_empty) {
  EXPECT_EQ(sync_wait(task<result<int>>()).error().reaction(), reaction::caller_bug);
  auto body = []() -> task<result<int>> { co_return co_await task<result<int>>(); };
  EXPECT_EQ(sync_wait(body()).error().reaction(), reaction::caller_bug);
  auto plain_body = []() -> task<int> { co_return co_await task<int>(); };
  EXPECT_EQ(sync_wait(plain_body()).error().reaction(), reaction::caller_bug);
}

TEST(task, returns_move_only_values) {
  auto child = []() -> task<result<std::unique_ptr<int>>> { co_return std::make_unique<int>(5); };
  auto body = [](auto make) -> task<std::unique_ptr<int>> { co_return *co_await make(); };
  EXPECT_EQ(**sync_wait(body(child)), 5);
}

TEST(task, resumes_on_the_executor_that_it_was_started_on) {
  manual_executor mine;
  struct steps {
    static task<result<int>> child(pending<int> q) { co_return co_await std::move(q); }
    static task<result<int>> parent(pending<int> q, executor*& seen) {
      seen = &co_await get_executor();
      co_return co_await child(std::move(q));
    }
  };
  executor* seen = nullptr;
  promise<int> p;
  auto q = start(mine, steps::parent(p.get_pending(), seen));
  EXPECT_EQ(seen, nullptr);
  EXPECT_TRUE(mine.run_one());
  EXPECT_EQ(seen, &mine);
  EXPECT_EQ(mine.waiting(), 0u);
  std::jthread([&] { p.set(8); }).join();
  EXPECT_FALSE(q.ready());
  EXPECT_TRUE(mine.run_one());
  EXPECT_EQ(*q.get(), 8);
}

TEST(task, runs_to_its_end_if_its_pending_is_destroyed) {
  bool ended = false;
  auto body = [](pending<int> q, bool& flag) -> task<void> {
    (void)co_await std::move(q);
    flag = true;
  };
  promise<int> p;
  start(body(p.get_pending(), ended)).detach();
  EXPECT_FALSE(ended);
  p.set(1);
  EXPECT_TRUE(ended);
}

TEST(task, destroys_its_frame_before_it_answers) {
  bool gone = false, gone_at_answer = false;
  auto body = [](pending<int> q, witness) -> task<result<int>> { co_return co_await std::move(q); };
  promise<int> p;
  start(body(p.get_pending(), witness(gone))).then([&](result<int>) { gone_at_answer = gone; }).detach();
  p.set(1);
  EXPECT_TRUE(gone_at_answer);
}

TEST(task, does_not_grow_the_stack_in_a_million_ready_awaits) {
  auto body = []() -> task<result<long>> {
    long sum = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      sum += co_await make_ready<int>(1);
      sum += co_await plain(1);
      sum += co_await good(1);
    }
    co_return sum;
  };
  EXPECT_EQ(*sync_wait(body()), 3'000'000);
}

TEST(task, does_not_grow_the_stack_in_a_million_nested_tasks) {
  struct recursion {
    static task<result<int>> go(int depth, pending<int>& q) {
      if (depth == 0) co_return co_await q;
      co_return 1 + co_await go(depth - 1, q);
    }
  };
  promise<int> p;
  auto answer = p.get_pending();
  auto q = start(recursion::go(1'000'000, answer));
  p.set(0);
  EXPECT_EQ(*q.get(), 1'000'000);
  auto failed = make_ready<int>(closed);
  EXPECT_EQ(sync_wait(recursion::go(1'000'000, failed)).error().text(), "closed");
}

}  // namespace
}  // namespace troupe
