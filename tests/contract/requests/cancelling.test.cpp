// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of time-outs, cancelling and closing.
#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class cancelling : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));
  buffer<float> x = gpu.alloc<float>(10);

  void SetUp() override { EXPECT_OK(gpu.fill(x, 0.0f).get()); }
  float value() { return gpu.download(x).get().value()[0]; }
};
INSTANTIATE_TEST_SUITE_P(each, cancelling, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(cancelling, a_request_that_times_out_before_it_starts_never_runs) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto late = gpu.ask(increment{.x = x, .n = 10}, {.timeout = 10ms});
  EXPECT_TRUE(is_error(error_of(late.get()), reaction::retry_later, {"testing.increment", "time-out"}))
      << "while the worker is busy";
  EXPECT_FALSE(x.readable());
  b.lift();
  EXPECT_OK(gpu.sync().get());
  gpu.fill(x.slice(1), 0.0f);
  EXPECT_TRUE(is_error(error_of(gpu.download(x.slice(0, 1))), reaction::retry_later, {"time-out"}));
}

TEST_P(cancelling, a_time_out_does_not_stop_a_started_request) {
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto running = gpu.ask(hold{.gate = gate}, {.timeout = 50ms});
  while (std::atomic_ref(gate[entered]).load() == 0 && !running.ready()) std::this_thread::yield();
  auto watch = gpu.ask(increment{.x = x, .n = 10}, {.timeout = 60ms});
  (void)watch.get();  // by now, the first request has exceeded its time
  std::atomic_ref(gate[opened]).store(1);
  const auto answer = running.get();
  // On all but the slowest machines, it has started in time; it then runs to its end.
  if (!answer) {
    EXPECT_TRUE(is_error(answer.error(), reaction::retry_later, {"time-out"}));
  }
}

TEST_P(cancelling, a_short_time_out_is_kept_after_a_long_one) {
  const blockade wall(gpu);
  auto longer = gpu.ask(nap{.microseconds = 0}, {.timeout = 1h});
  for (int i = 0; i < 3; ++i) {
    auto shorter = gpu.ask(nap{.microseconds = 0}, {.timeout = 20ms});
    EXPECT_TRUE(is_error(error_of(shorter.get()), reaction::retry_later, {"time-out"}));
  }
  EXPECT_FALSE(longer.ready());
}

TEST_P(cancelling, time_outs_of_any_length_are_accepted) {
  EXPECT_EQ(gpu.ask(widest{.seed = 5}, {.timeout = std::chrono::hours::max()}).get().value()[0], 5u);
  EXPECT_EQ(gpu.ask(widest{.seed = 5}, {.timeout = std::chrono::nanoseconds::max()}).get().value()[0], 5u);
  EXPECT_EQ(gpu.ask(widest{.seed = 5}, {.timeout = std::chrono::duration<double>(1e300)}).get().value()[0], 5u);
  EXPECT_EQ(gpu.ask(widest{.seed = 5}, {.timeout = std::chrono::nanoseconds(INT64_MAX - 1)}).get().value()[0], 5u);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  EXPECT_TRUE(
      is_error(error_of(gpu.ask(increment{.x = x, .n = 10}, {.timeout = 0s})), reaction::retry_later, {"time-out"}));
  gpu.fill(x, 0.0f);
  EXPECT_TRUE(
      is_error(error_of(gpu.ask(increment{.x = x, .n = 10}, {.timeout = -1h})), reaction::retry_later, {"time-out"}));
}

TEST_P(cancelling, a_time_out_of_zero_is_refused_even_on_an_idle_device) {
  EXPECT_OK(gpu.sync().get());
  const std::uint64_t before = gpu.statistics().completed;
  const accepted sent = gpu.tell(increment{.x = x, .n = 10}, {.timeout = 0s});
  ASSERT_FALSE(sent);
  EXPECT_TRUE(
      is_error(sent.error(), reaction::retry_later, {"testing.increment", "time-out", "call_options::timeout"}));
  EXPECT_EQ(gpu.statistics().completed, before);
}

TEST_P(cancelling, a_request_cancelled_before_it_starts_is_answered_at_once_and_never_runs) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto p = gpu.ask(increment{.x = x, .n = 10});
  p.cancel();
  EXPECT_TRUE(is_error(error_of(p.get()), reaction::retry_later, {"testing.increment", "cancelled"}));
  EXPECT_FALSE(x.readable());
  b.lift();
  gpu.fill(x, 5.0f);
  EXPECT_EQ(value(), 5.0f);
}

TEST_P(cancelling, dependents_of_a_cancelled_request_fail_with_it) {
  const auto y = gpu.alloc<float>(10);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto first = gpu.ask(increment{.x = x, .n = 10});
  auto second = gpu.ask(testing_actor::copy{.source = x, .target = y, .n = 10});
  first.cancel();
  b.lift();
  EXPECT_TRUE(
      is_error(error_of(second.get()), reaction::retry_later, {"testing.increment", "cancelled", "testing.copy"}));
  EXPECT_FALSE(y.readable());
}

TEST_P(cancelling, a_request_that_has_started_runs_to_its_end) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  b.answer().cancel();
  EXPECT_FALSE(b.answer().ready());
  b.lift();
  EXPECT_OK(b.answer().get());
}

TEST_P(cancelling, a_finished_request_is_not_affected) {
  auto p = gpu.ask(increment{.x = x, .n = 10});
  EXPECT_OK(gpu.sync().get());
  p.cancel();
  EXPECT_OK(p.get());
  p.cancel();
  EXPECT_EQ(value(), 1.0f);
}

TEST_P(cancelling, a_stop_token_cancels) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::stop_source stop;
  auto p = gpu.ask(increment{.x = x, .n = 10}).cancel_on(stop.get_token());
  EXPECT_FALSE(p.ready());
  stop.request_stop();
  EXPECT_TRUE(is_error(error_of(p.get()), reaction::retry_later, {"cancelled"}));
  auto already = gpu.ask(increment{.x = x, .n = 10}).cancel_on(stop.get_token());
  EXPECT_NE(error_text(already.get()), "");
}

TEST_P(cancelling, a_queued_transfer_can_be_cancelled) {
  const auto big = gpu.alloc<float>(1 << 20);
  const std::vector<float> data(1 << 20, 3.0f);
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto holding = gpu.ask(hold_slowly{.gate = gate, .result = big.slice(0, 1)});
  auto down = gpu.download(big);
  down.cancel();
  EXPECT_TRUE(is_error(error_of(down.get()), reaction::retry_later, {"memory.stream_out", "cancelled"}));
  // The upload blocks its caller until the caller cancels it.
  EXPECT_TRUE(is_error(error_of(gpu.upload(big, data, {.timeout = 10ms})), reaction::retry_later,
                       {"memory.stream_in", "time-out"}));
  std::atomic_ref(gate[opened]).store(1);
  EXPECT_OK(holding.get());
  EXPECT_OK(gpu.upload(big, data).get());
  EXPECT_EQ(gpu.download(big).get().value(), data);
}

TEST_P(cancelling, requests_cancelled_while_they_start_get_one_answer_each) {
  int ran = 0;
  for (int i = 0; i < 2000; ++i) {
    auto p = gpu.ask(increment{.x = x, .n = 1});
    if (i % 3 != 0) p.cancel();
    if (p.get())
      ++ran;
    else
      gpu.fill(x.slice(0, 1), static_cast<float>(ran));
  }
  EXPECT_EQ(value(), static_cast<float>(ran));
}

TEST(closing, orderly_answers_everything_queued_before_and_refuses_everything_after) {
  for (auto where : {isolation::process, isolation::thread}) {
    tally answers;
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    const auto x = gpu.alloc<float>(10);
    gpu.fill(x, 0.0f);
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    for (int i = 0; i < 500; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 10}));
    auto last = gpu.download(x);
    auto closed = gpu.close();
    while (gpu.state() != device_state::closing) std::this_thread::yield();
    EXPECT_TRUE(is_error(error_of(gpu.ping()), reaction::stopped, {"memory.ping", "closed", "open another"}));
    EXPECT_FALSE(closed.ready());
    b.lift();
    EXPECT_OK(closed.get());
    answers.await_all();
    EXPECT_EQ(answers.fine(), 500);
    EXPECT_EQ(last.get().value(), std::vector<float>(10, 500.0f));
    EXPECT_FALSE(x.readable());
    EXPECT_TRUE(is_error(*x.cause(), reaction::stopped, {"closed"}));
    EXPECT_OK(gpu.close().get()) << "again";
    EXPECT_OK(gpu.close_now().get()) << "closing again succeeds";
    if (where == isolation::process) {
      EXPECT_TRUE(has_ended(gpu.statistics().worker_pid.value())) << "the worker has ended by then";
    }
  }
}

TEST(closing, now_always_reports_closing_as_the_reason) {
  for (int round = 0; round < 30; ++round) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines());
    EXPECT_OK(gpu.started().get());
    std::vector<pending<void>> all;
    for (int i = 0; i < 300; ++i) all.push_back(gpu.ask(nap{.microseconds = 1}));
    (void)gpu.close_now().get();
    for (auto& p : all) {
      const auto r = p.get();
      if (!r) {
        EXPECT_TRUE(is_error(r.error(), reaction::stopped, {"closed before"}));
      }
    }
  }
}

TEST(closing, now_answers_waiting_requests_with_stopped_and_lets_started_ones_end) {
  for (auto where : {isolation::process, isolation::thread}) {
    tally answers;
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where, .lanes = lane_policy::single}));
    const auto x = gpu.alloc<float>(10);
    gpu.fill(x, 0.0f);
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    for (int i = 0; i < 500; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 10}));
    auto closed = gpu.close_now();
    answers.await_all();
    EXPECT_EQ(answers.failed(reaction::stopped), 500);
    EXPECT_FALSE(b.answer().ready());
    b.lift();
    EXPECT_OK(b.answer().get());
    EXPECT_OK(closed.get());
  }
}

TEST(closing, now_ends_requests_that_run_longer_than_the_close_timeout) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.close_timeout = 50ms}));
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto never = gpu.ask(spin{.gate = gate});
  while (std::atomic_ref(gate[entered]).load() == 0 && !never.ready()) std::this_thread::yield();
  auto closed = gpu.close_now();
  EXPECT_TRUE(is_error(error_of(never.get()), reaction::context_lost, {"testing.spin", "closed with close_now()"}));
  (void)closed.get();
  EXPECT_EQ(gpu.state(), device_state::stopped);
}

TEST(closing, orderly_can_be_followed_by_close_now) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.close_timeout = 50ms}));
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto never = gpu.ask(spin{.gate = gate});
  while (std::atomic_ref(gate[entered]).load() == 0 && !never.ready()) std::this_thread::yield();
  auto orderly = gpu.close();
  EXPECT_FALSE(orderly.get_for(20ms));
  (void)gpu.close_now().get();
  EXPECT_NE(error_text(never.get()), "");
  EXPECT_NE(error_text(orderly.get()), "");
}

TEST(closing, orderly_waits_for_work_that_lasts_longer_than_the_start_timeout) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.start_timeout = 2s}));
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto holding = gpu.ask(hold{.gate = gate});
  auto closed = gpu.close();  // usually before the worker is ready
  EXPECT_FALSE(closed.get_for(2200ms)) << error_text(holding.get());
  std::atomic_ref(gate[opened]).store(1);
  EXPECT_OK(holding.get());
  EXPECT_OK(closed.get());
}

TEST(closing, answers_threads_that_ask_meanwhile_once_each) {
  for (int round = 0; round < 5; ++round) {
    tally answers;
    runtime rt;
    const device gpu =
        rt.open_device(with_test_engines({.when_full = round % 2 == 0 ? when_full::refuse : when_full::wait}));
    std::atomic<bool> stop{false};
    std::vector<std::thread> callers;
    for (int t = 0; t < 3; ++t) {
      callers.emplace_back([&] {
        while (!stop) answers.watch(gpu.ask(nap{.microseconds = 0}));
      });
    }
    while (answers.fine() < 100) std::this_thread::yield();
    auto closed = round < 3 ? gpu.close() : gpu.close_now();
    EXPECT_OK(closed.get());
    stop = true;
    for (auto& c : callers) c.join();
    answers.await_all();
    EXPECT_EQ(answers.answered(), answers.expected());
    EXPECT_EQ(
        answers.failed(reaction::context_lost) + answers.failed(reaction::fatal) + answers.failed(reaction::caller_bug),
        0);
  }
}

}  // namespace
}  // namespace troupe::whole
