// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that a device continues after its worker has died.
#include "with_standbys.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

class recovery : public with_standbys {};
TROUPE_WITH_STANDBYS(recovery);

TEST_P(recovery, a_device_serves_again_after_its_worker_was_killed) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(100);
  ASSERT_OK(gpu.upload(x, counting(100)).get());
  const int first = gpu.statistics().worker_pid.value();
  kill_worker(gpu);
  const auto answer = gpu.download(x).get();
  ASSERT_FALSE(answer);
  EXPECT_FALSE(x.readable());
  ASSERT_OK(gpu.upload(x, counting(100)).get());
  EXPECT_TRUE(x.readable()) << "rewritten data is valid";
  EXPECT_EQ(gpu.download(x).get().value(), counting(100));
  EXPECT_EQ(gpu.state(), device_state::ready);
  EXPECT_EQ(gpu.statistics().generation, 2u);
  EXPECT_NE(gpu.statistics().worker_pid.value(), first);
  EXPECT_OK(gpu.close().get());
}

TEST_P(recovery, started_requests_fail_and_others_are_kept_if_their_inputs_survive) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(10), y = gpu.alloc<float>(10);
  ASSERT_OK(gpu.upload(x, counting(10)).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto stale = gpu.ask(increment{.x = x, .n = 10});
  auto after_stale = gpu.download(x);
  auto fill = gpu.fill(y, 7.f);
  auto kept = gpu.ask(increment{.x = y, .n = 10});
  auto result = gpu.download(y);
  kill_worker(gpu);
  const error lost = error_of(std::move(b.answer()));
  EXPECT_TRUE(is_error(lost, reaction::context_lost, {"SIGKILL", "testing.hold"}));
  EXPECT_EQ(lost.generation(), 1u) << "the request that failed, not the one that reports it";
  EXPECT_TRUE(is_error(error_of(std::move(stale)), reaction::context_lost, {"SIGKILL"}));
  EXPECT_TRUE(is_error(error_of(std::move(after_stale)), reaction::context_lost, {"SIGKILL"}));
  EXPECT_OK(fill.get());
  EXPECT_OK(kept.get());
  EXPECT_EQ(result.get().value(), std::vector<float>(10, 8.f));
}

// Both requests use the blockade's memory, so neither starts before the worker dies.
TEST_P(recovery, a_request_that_reads_a_cancelled_output_does_not_run) {
  const device gpu = open();
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const buffer<std::uint32_t> m(b.gate().memory());
  const auto ones = gpu.alloc<std::uint32_t>(2);
  auto before = gpu.fill(m, 5u);
  auto made = gpu.fill(ones, 1u);
  auto cancelled = gpu.copy(m, ones);
  auto read = gpu.download(m);
  cancelled.cancel();
  kill_worker(gpu);
  EXPECT_OK(before.get());
  EXPECT_TRUE(is_error(error_of(std::move(cancelled)), reaction::retry_later, {"cancelled"}));
  const auto answer = read.get();
  EXPECT_FALSE(answer) << "it saw " << (*answer)[0];
}

TEST_P(recovery, a_request_that_reads_a_lost_output_does_not_run_while_closing) {
  const device gpu = open();
  const auto lost = gpu.alloc<std::uint32_t>(2);
  ASSERT_OK(gpu.fill(lost, 1u).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const buffer<std::uint32_t> m(b.gate().memory());
  auto before = gpu.fill(m, 5u);
  auto cannot = gpu.copy(m, lost);  // its input does not survive
  auto read = gpu.download(m);
  auto closed = gpu.close();
  kill_worker(gpu);
  EXPECT_OK(before.get());
  EXPECT_TRUE(is_error(error_of(std::move(cannot)), reaction::context_lost, {"SIGKILL"}));
  const auto answer = read.get();
  EXPECT_FALSE(answer) << "it saw " << (*answer)[0];
  (void)closed.get();
}

TEST_P(recovery, untouched_memory_can_be_kept) {
  const device gpu = open({.salvage = salvage::untouched});
  const auto x = gpu.alloc<float>(10), y = gpu.alloc<float>(10);
  ASSERT_OK(gpu.upload(x, counting(10)).get());
  ASSERT_OK(gpu.upload(y, counting(10)).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto queued = gpu.ask(increment{.x = x, .n = 10});
  kill_worker(gpu);
  EXPECT_OK(queued.get());
  EXPECT_EQ(gpu.download(y).get().value(), counting(10));
  EXPECT_EQ(gpu.download(x).get().value()[9], 10.f);
}

TEST_P(recovery, too_many_faults_stop_a_device_until_it_is_reset) {
  const device gpu = open();
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(gpu.sync().get());
    kill_worker(gpu);
    while (gpu.statistics().generation < static_cast<std::uint64_t>(i) + 2) std::this_thread::yield();
  }
  EXPECT_TRUE(is_error(error_of(gpu.stopped()), reaction::context_lost, {"more than 3 times within 60 s"}));
  EXPECT_TRUE(is_error(error_of(gpu.ping()), reaction::stopped, {"reset()"}));
  EXPECT_OK(gpu.reset().get());
  EXPECT_EQ(gpu.ping(5).get().value(), 5u);
}

// The continuation runs on a thread of the device.
TEST_P(recovery, a_continuation_may_wait_until_a_device_is_reset) {
  const device gpu = open();
  auto again = gpu.stopped().then([gpu](result<void>) { return gpu.reset().get(); });
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(gpu.sync().get());
    kill_worker(gpu);
    while (i < 3 && gpu.statistics().generation < static_cast<std::uint64_t>(i) + 2) std::this_thread::yield();
  }
  EXPECT_OK(again.get());
  EXPECT_EQ(gpu.ping(5).get().value(), 5u);
}

TEST_P(recovery, each_request_is_answered_once_while_workers_die) {
  const device gpu = open({.mailbox_capacity = 256, .when_full = when_full::wait});
  device_watch events = gpu.watch();
  tally answers;
  std::atomic<bool> over{false};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&, t] {
      while (!over) {
        const auto x = gpu.alloc<float>(64);
        gpu.upload(x, std::vector<float>(64, static_cast<float>(t)));
        answers.watch(gpu.ask(increment{.x = x, .n = 64}));
        const auto y = gpu.download(x).get();
        if (y) {
          EXPECT_EQ(*y, std::vector<float>(64, static_cast<float>(t + 1)));
        }
      }
    });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(100ms);
    EXPECT_OK(gpu.sync().get());  // a worker serves
    kill_worker(gpu);
  }
  std::this_thread::sleep_for(100ms);
  over = true;
  for (auto& c : callers) c.join();
  EXPECT_OK(gpu.sync().get());
  if (HasFailure())
    while (const auto e = events.poll()) ADD_FAILURE() << e->text();
  answers.await_all();
  EXPECT_EQ(answers.answered(), answers.expected());
  EXPECT_GT(answers.fine(), 0);
}

// The loop of docs/when-things-fail.md: everything that a fault ends fails with context_lost, whenever the fault
// occurs.
TEST_P(recovery, everything_that_a_fault_ends_is_context_lost) {
  const device gpu =
      rt.open_device(with_test_engines({.standbys = GetParam(), .restarts = 100'000, .quarantine_after = 0}));
  std::atomic<bool> over{false};
  std::atomic<int> fine{0}, lost{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      while (!over) {
        const auto x = gpu.alloc<float>(64);
        gpu.upload(x, std::vector<float>(64, static_cast<float>(t)));
        gpu.tell(increment{.x = x, .n = 64});
        const auto y = gpu.download(x).get();
        if (y) {
          EXPECT_EQ(*y, std::vector<float>(64, static_cast<float>(t + 1)));
          ++fine;
        } else {
          EXPECT_TRUE(is_error(y.error(), reaction::context_lost, {}));
          ++lost;
        }
      }
    });
  for (int i = 0; i < 60; ++i) {
    std::this_thread::sleep_for(10ms);
    EXPECT_OK(gpu.sync().get());  // a worker serves
    kill_worker(gpu);
  }
  over = true;
  for (auto& c : callers) c.join();
  EXPECT_GT(fine, 0);
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace troupe::whole
