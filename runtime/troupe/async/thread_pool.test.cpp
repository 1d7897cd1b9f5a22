// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <thread>
#include <troupe/async/promise.hpp>
#include <troupe/async/task.hpp>
#include <troupe/async/thread_pool.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(thread_pool, runs_each_job_of_many_posting_threads_once) {
  std::atomic<int> ran = 0;
  {
    thread_pool pool(3);
    EXPECT_EQ(pool.size(), 3);
    std::vector<std::jthread> posters;
    for (int i = 0; i < 4; ++i) {
      posters.emplace_back([&] {
        for (int k = 0; k < 1000; ++k) post(pool, [&] { ++ran; });
      });
    }
  }
  EXPECT_EQ(ran, 4000);
}

TEST(thread_pool, runs_jobs_that_jobs_post_before_it_closes) {
  std::atomic<int> ran = 0;
  thread_pool pool(2);
  for (int i = 0; i < 100; ++i) {
    post(pool, [&] {
      ++ran;
      post(pool, [&] { ++ran; });
    });
  }
  pool.close();
  EXPECT_EQ(ran, 200);
}

TEST(thread_pool, runs_a_job_posted_after_close_on_the_caller) {
  thread_pool pool(1);
  pool.close();
  pool.close();
  std::thread::id where;
  post(pool, [&] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(thread_pool, uses_no_processor_time_while_idle) {
  thread_pool pool(4);
  start(pool, []() -> task<void> { co_return; }()).get().value();
  const auto cpu_ns = [] {
    timespec t;
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  };
  const auto before = cpu_ns();
  promise<void> never;
  (void)never.get_pending().get_until(now_ns() + 200'000'000);
  EXPECT_LT(cpu_ns() - before, 20'000'000) << "nanoseconds of CPU in 0.2 s of doing nothing";
}

TEST(thread_pool, resumes_a_task_in_the_pool_after_an_answer_from_another_thread) {
  thread_pool pool(2);
  struct steps {
    static task<bool> stays(pending<int> q, std::thread::id outside) {
      const bool first = std::this_thread::get_id() != outside;
      (void)co_await std::move(q);
      co_return first&& std::this_thread::get_id() != outside;
    }
  };
  promise<int> p;
  auto q = start(pool, steps::stays(p.get_pending(), std::this_thread::get_id()));
  p.set(1);
  EXPECT_TRUE(*q.get());
}

task<result<int>> count_down(executor& pool, int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await start(pool, count_down(pool, n - 1));
}

TEST(thread_pool, completes_many_tasks_that_await_each_other_across_threads) {
  thread_pool pool(4);
  std::vector<pending<int>> all;
  for (int i = 0; i < 200; ++i) all.push_back(start(pool, count_down(pool, 50)));
  for (auto& q : all) EXPECT_EQ(*q.get(), 50);
}

}  // namespace
}  // namespace troupe
