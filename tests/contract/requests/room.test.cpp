// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The naive loop: any number of requests with default options, from any thread; and room for threads that must not
// block.
// block.
#include <mutex>
#include <troupe/async/tasks/start.hpp>
#include <troupe/device/keep_content.hpp>
#include <troupe/jit/jit.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

constexpr int many = 100'000;

class naive_loop : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));
  buffer<float> x = gpu.alloc<float>(1);

  void SetUp() override { ASSERT_OK(gpu.fill(x, 0.0f).get()); }
  static void tell_all(const device& to, const buffer<float>& x, int times = many) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(to.tell(increment{.x = x, .n = 1}));
  }
  void expect_value(float wanted) {
    const auto got = gpu.download(x).get();
    ASSERT_OK(got);
    EXPECT_EQ(got->at(0), wanted);
  }
};
INSTANTIATE_TEST_SUITE_P(each, naive_loop, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(naive_loop, works_on_a_thread) {
  tell_all(gpu, x);
  expect_value(many);
}

TEST_P(naive_loop, works_on_several_threads_at_once) {
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) callers.emplace_back([&] { tell_all(gpu, x, many / 4); });
  for (auto& c : callers) c.join();
  expect_value(many);
}

TEST_P(naive_loop, works_in_a_callback) {
  std::atomic<bool> over{false};
  gpu.ping().then([&](const result<std::uint64_t>&) {
    tell_all(gpu, x);
    over = true;
    over.notify_all();
  });
  over.wait(false);
  expect_value(many);
}

// Each callback finds the mailbox full while the other callbacks wait for their turn.
TEST_P(naive_loop, works_in_many_simultaneous_callbacks) {
  constexpr int callbacks = 500;
  tally answers;
  for (int i = 0; i < callbacks; ++i)
    answers.watch(gpu.ask(nap{.microseconds = 0}).then([&](const result<void>&) { tell_all(gpu, x, 200); }));
  answers.await_all();
  EXPECT_EQ(answers.fine(), callbacks);
  expect_value(callbacks * 200);
}

task<void> tell_in_coroutine(device gpu, buffer<float> x) {
  (void)co_await gpu.ping();  // from here on, this runs on the thread that delivers answers
  for (int i = 0; i < many; ++i) EXPECT_TRUE(gpu.tell(increment{.x = x, .n = 1}));
}

TEST_P(naive_loop, works_in_a_coroutine) {
  EXPECT_OK(sync_wait(tell_in_coroutine(gpu, x)));
  expect_value(many);
}

TEST_P(naive_loop, answers_every_ask) {
  tally answers;
  for (int i = 0; i < many / 10; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 1}));
  answers.await_all();
  EXPECT_EQ(answers.fine(), many / 10);
  expect_value(many / 10);
}

// A thread that waits for room runs no callbacks of other requests. Callbacks are attached without the lock, because
// `pending::then` calls at once if the answer exists.
TEST_P(naive_loop, works_with_a_lock_that_callbacks_take) {
  std::mutex lock;
  tally answers;
  for (int i = 0; i < 5000; ++i) {
    pending<void> answer;
    {
      const std::scoped_lock guard(lock);
      answer = gpu.ask(increment{.x = x, .n = 1});
    }
    answers.watch(std::move(answer).then([&](const result<void>& r) {
      const std::scoped_lock theirs(lock);
      return r;
    }));
  }
  answers.await_all();
  EXPECT_EQ(answers.fine(), 5000);
}

device small(runtime& rt, std::uint32_t capacity) {
  return rt.open_device(with_test_engines({.mailbox_capacity = capacity}));
}

TEST(room, is_granted_at_once_if_available) {
  runtime rt;
  const device gpu = small(rt, 4);
  auto all = gpu.room(4);
  EXPECT_TRUE(all.ready());
  EXPECT_OK(all.get());
}

TEST(room, is_granted_in_order_as_requests_finish) {
  runtime rt;
  const device gpu = small(rt, 4);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(gpu.tell(nap{.microseconds = 0}));
  std::vector<pending<void>> wanted;
  for (int i = 0; i < 8; ++i) wanted.push_back(gpu.room());
  auto last = gpu.room(4);
  for (auto& one : wanted) EXPECT_FALSE(one.get_for(0ms).has_value());
  b.lift();
  for (auto& one : wanted) EXPECT_OK(one.get());
  EXPECT_OK(last.get());
  EXPECT_EQ(gpu.statistics().depth, 0u);
}

TEST(room, is_refused_beyond_the_capacity) {
  runtime rt;
  const device gpu = small(rt, 4);
  EXPECT_TRUE(is_error(error_of(gpu.room(0)), reaction::caller_bug, {"room", "requests is 0", "1 to 4"}));
  EXPECT_TRUE(is_error(error_of(gpu.room(5)), reaction::caller_bug, {"room", "requests is 5", "1 to 4"}));
  EXPECT_OK(gpu.close().get());
  EXPECT_TRUE(is_error(error_of(gpu.room()), reaction::stopped, {"closed"}));
}

TEST(room, ends_the_wait_on_cancelling_and_closing) {
  runtime rt;
  const device gpu = small(rt, 1);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto dropped = gpu.room(), cancelled = gpu.room(), closed = gpu.room();
  cancelled.cancel();
  EXPECT_TRUE(is_error(error_of(std::move(cancelled)), reaction::retry_later, {"room", "cancelled"}));
  dropped = {};
  auto end = gpu.close();
  EXPECT_TRUE(is_error(error_of(std::move(closed)), reaction::stopped, {"closed"}));
  b.lift();
  EXPECT_OK(end.get());
}

TEST(room, is_granted_after_a_fault) {
  runtime rt;
  auto o = with_test_engines({.mailbox_capacity = 2});
  o.restarts = 3;
  const device gpu = rt.open_device(o);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  ASSERT_TRUE(gpu.tell(nap{.microseconds = 0}));
  auto room = gpu.room();
  kill_worker(gpu);
  EXPECT_OK(room.get());
}

task<void> tell_with_room(device gpu, buffer<float> x, std::atomic<int>& others) {
  for (int i = 0; i < 2000; ++i) {
    EXPECT_OK(co_await gpu.room());
    EXPECT_TRUE(gpu.tell(increment{.x = x, .n = 1}, {.waits_for_room = false}));
    ++others;
  }
}

// The coroutine asks for room before each request, so it never sends into a full mailbox.
TEST(room, lets_a_coroutine_send_without_ever_blocking) {
  runtime rt;
  const device gpu = small(rt, 8);
  const auto x = gpu.alloc<float>(1);
  gpu.fill(x, 0.0f);
  EXPECT_OK(gpu.sync().get());
  std::atomic<int> sent{0};
  EXPECT_OK(sync_wait(tell_with_room(gpu, x, sent)));
  EXPECT_EQ(gpu.download(x).get().value()[0], 2000.0f);
}

TEST(room, is_not_awaited_by_a_call_that_must_not_wait) {
  runtime rt;
  const device gpu = small(rt, 1);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  EXPECT_TRUE(is_error(error_of(gpu.ask(nap{.microseconds = 0}, {.waits_for_room = false})), reaction::retry_later,
                       {"full", "room()", "mailbox_capacity"}));
}

// Releasing memory in a callback sends a message to the worker, for which there is no room: the release must not
// wait.
TEST(room, is_not_awaited_by_releases_on_the_reactor) {
  runtime rt;
  const device gpu = rt.open_device({.engine = engine_under_test(), .mailbox_capacity = 1});
  for (int i = 0; i < 50; ++i) {
    (void)jit::compile(gpu, {.source = "__global__ void f(float*) {}"}).ready();
    (void)gpu.ping();
  }
  EXPECT_OK(gpu.sync().get());
}

class keeping_content : public testing::Test {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines());
  buffer<float> x = gpu.alloc<float>(4);
  void SetUp() override { ASSERT_OK(gpu.upload(x, counting(4)).get()); }
};

TEST_F(keeping_content, keeps_the_content_before_refused_requests) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(gpu.tell(increment{.x = x, .n = 5}));
  ASSERT_FALSE(x.readable());
  EXPECT_TRUE(is_error(*x.cause(), reaction::caller_bug, {"did not run", "keep_content"}));
  EXPECT_OK(keep_content(gpu, x));
  EXPECT_TRUE(x.readable());
  EXPECT_EQ(gpu.download(x).get().value(), counting(4));
  EXPECT_OK(keep_content(gpu, x)) << "a valid buffer needs no change";
}

TEST_F(keeping_content, keeps_the_content_of_a_slice_alone) {
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = 5}));
  EXPECT_OK(keep_content(gpu, x.slice(0, 2)));
  EXPECT_EQ(gpu.download(x.slice(0, 2)).get().value(), counting(2));
  EXPECT_FALSE(x.slice(2).readable());
}

TEST_F(keeping_content, refuses_content_that_a_failed_request_may_have_changed) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto sent = gpu.ask(increment{.x = x, .n = 4}, {.timeout = 5ms});
  EXPECT_TRUE(is_error(error_of(std::move(sent)), reaction::retry_later, {"time-out"}));
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = 5}));
  EXPECT_TRUE(is_error(error_of(keep_content(gpu, x)), reaction::retry_later,
                       {"keep_content", "has not kept its content", "time-out"}));
  EXPECT_FALSE(x.readable());
}

TEST_F(keeping_content, becomes_stale_if_an_earlier_request_fails_later) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto sent = gpu.ask(increment{.x = x, .n = 4});
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = 5}));
  EXPECT_OK(keep_content(gpu, x));
  sent.cancel();
  EXPECT_FALSE(sent.get());
  EXPECT_FALSE(x.readable());
  EXPECT_FALSE(keep_content(gpu, x));
}

TEST_F(keeping_content, refuses_content_that_was_lost_with_the_worker) {
  auto o = with_test_engines();
  o.restarts = 3;
  const device mortal = rt.open_device(o);
  const auto y = mortal.alloc<float>(4);
  ASSERT_OK(mortal.upload(y, counting(4)).get());
  EXPECT_FALSE(mortal.tell(increment{.x = y, .n = 5}));
  kill_and_wait(mortal);
  EXPECT_FALSE(mortal.tell(increment{.x = y, .n = 5}));
  EXPECT_TRUE(is_error(error_of(keep_content(mortal, y)), reaction::context_lost, {"keep_content"}));
}

TEST_F(keeping_content, refuses_buffers_of_other_devices_and_empty_ones) {
  const device other = rt.open_device(with_test_engines());
  EXPECT_TRUE(is_error(error_of(keep_content(other, x)), reaction::caller_bug, {"keep_content", "another device"}));
  EXPECT_TRUE(is_error(error_of(keep_content(gpu, buffer<float>())), reaction::caller_bug, {"keep_content", "empty"}));
  const auto stillborn = gpu.alloc<float>(-1);
  EXPECT_TRUE(is_error(error_of(keep_content(gpu, stillborn)), reaction::caller_bug, {"alloc"}));
}

}  // namespace
}  // namespace troupe::whole
