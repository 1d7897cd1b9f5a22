// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <optional>
#include <string>
#include <thread>
#include <troupe/async/promise.hpp>
#include <troupe/async_asio/adapter.hpp>

namespace troupe {
namespace {

/// Sets the answer on another thread as soon as the context waits for nothing else.
template <class T>
std::jthread answer_later(promise<T>& p, result<T> answer) {
  return std::jthread([&p, answer = std::move(answer)]() mutable {
    std::this_thread::yield();
    p.set(std::move(answer));
  });
}

// [asio]
asio::awaitable<void> coroutine(pending<std::string> q, std::string& out, std::thread::id& where) {
  result<std::string> answer = co_await async_get(std::move(q), asio::use_awaitable);
  out = *answer;
  where = std::this_thread::get_id();
}
// [asio]

TEST(async_asio, resumes_a_coroutine_in_its_context_and_counts_as_outstanding_work) {
  asio::io_context context;
  promise<std::string> p;
  std::string out;
  std::thread::id where;
  asio::co_spawn(context, coroutine(p.get_pending(), out, where), asio::detached);
  context.poll();
  EXPECT_FALSE(context.stopped()) << "the wait counts as work";
  const auto other = answer_later<std::string>(p, std::string("hello"));
  context.run();
  EXPECT_EQ(out, "hello");
  EXPECT_EQ(where, std::this_thread::get_id());
}

asio::awaitable<void> errors(pending<int> q, std::optional<error>& out) {
  const auto answer = co_await async_get(std::move(q), asio::use_awaitable);
  if (!answer) out = answer.error();
}

TEST(async_asio, delivers_errors_as_results) {
  asio::io_context context;
  std::optional<error> out;
  asio::co_spawn(context, errors(make_ready<int>(error(reaction::stopped, "test", "closed")), out), asio::detached);
  context.run();
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->text(), "closed");
}

TEST(async_asio, returns_a_future_without_an_io_context) {
  promise<int> p;
  std::future<result<int>> future = async_get(p.get_pending(), asio::use_future);
  const auto other = answer_later<int>(p, 7);
  EXPECT_EQ(*future.get(), 7);
}

TEST(async_asio, runs_a_callback_on_the_executor_it_is_bound_to) {
  asio::io_context context;
  promise<int> p;
  std::thread::id where;
  async_get(p.get_pending(), asio::bind_executor(context, [&](result<int> r) {
              EXPECT_EQ(*r, 3);
              where = std::this_thread::get_id();
            }));
  const auto other = answer_later<int>(p, 3);
  context.run();
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(async_asio, runs_a_plain_callback_on_the_given_executor_and_never_inside_the_call) {
  asio::io_context context;
  int calls = 0;
  async_get(context.get_executor(), make_ready<int>(1), [&](result<int>) { ++calls; });
  async_get(context.get_executor(), pending<int>(), [&](result<int> r) {
    EXPECT_EQ(r.error().reaction(), reaction::caller_bug);
    ++calls;
  });
  EXPECT_EQ(calls, 0);
  context.run();
  EXPECT_EQ(calls, 2);
}

TEST(async_asio, cancels_the_pending_on_an_asio_cancellation) {
  asio::io_context context;
  asio::cancellation_signal signal;
  promise<int> p;
  p.on_cancel([&] { p.set(cancelled("the work")); });
  std::optional<result<int>> answer;
  async_get(context.get_executor(), p.get_pending(),
            asio::bind_cancellation_slot(signal.slot(), [&](result<int> r) { answer = std::move(r); }));
  signal.emit(asio::cancellation_type::terminal);
  EXPECT_FALSE(answer.has_value());
  context.run();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->error().reaction(), reaction::retry_later);
}

TEST(async_asio, accepts_a_move_only_handler) {
  asio::io_context context;
  promise<std::unique_ptr<int>> p;
  int seen = 0;
  async_get(context.get_executor(), p.get_pending(),
            [&, own = std::make_unique<int>(1)](result<std::unique_ptr<int>> r) { seen = **r + *own; });
  p.set(std::make_unique<int>(4));
  context.run();
  EXPECT_EQ(seen, 5);
}

TEST(async_asio, delivers_every_answer_of_many_threads) {
  asio::io_context context;
  std::vector<promise<int>> promises(1000);
  int sum = 0;
  for (auto& p : promises) async_get(context.get_executor(), p.get_pending(), [&](result<int> r) { sum += *r; });
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < promises.size(); i += 4) promises[i].set(1);
    });
  }
  context.run();
  EXPECT_EQ(sum, 1000);
}

}  // namespace
}  // namespace troupe
