// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of workers that die. Every request gets exactly one answer, and the device reports what happened.
#include <troupe/async/thread_pool.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class faults : public testing::Test {
 protected:
  runtime rt;
  // Requests that take memory do not run on the pump, so the worker continues to read requests behind a blockade.
  device gpu =
      rt.open_device(with_test_engines({.mailbox_capacity = 4096, .lanes = lane_policy::pooled, .inline_bytes = 0}));

  void expect_stopped_with(const char* text) {
    const error e = error_of(gpu.stopped());
    EXPECT_TRUE(is_error(e, reaction::context_lost, {gpu.name().c_str(), text}));
    EXPECT_EQ(gpu.state(), device_state::stopped);
    EXPECT_TRUE(is_error(error_of(gpu.ping()), reaction::stopped, {text, "open another"}));
    EXPECT_EQ(gpu.statistics().depth, 0u);
    EXPECT_TRUE(has_ended(gpu.statistics().worker_pid.value())) << "the worker was not ended";
  }

  // Sends 1000 requests of all kinds behind a blockade, then calls `happens`. Each request must be answered once, with
  // an error.
  template <class F>
  void with_a_thousand_queued(F&& happens, const char* text) {
    tally answers;
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    const auto x = gpu.alloc<float>(100);
    // The requests use the blockade's memory, so they certainly wait for it.
    const buffer<std::uint32_t> gate(b.gate().memory());
    for (int i = 0; i < 500; ++i) answers.watch(gpu.fill(gate, 0u));
    for (int i = 0; i < 500; ++i) answers.watch(gpu.download(gate));
    happens();
    answers.await_all();
    EXPECT_EQ(answers.answered(), 1000);
    EXPECT_EQ(answers.failed(reaction::context_lost), 1000);
    EXPECT_TRUE(is_error(error_of(b.answer().get()), reaction::context_lost, {"testing.hold", text}));
    EXPECT_FALSE(x.readable());
    expect_stopped_with(text);
  }
};

TEST_F(faults, a_killed_worker_answers_a_thousand_queued_requests_with_context_lost) {
  with_a_thousand_queued([&] { kill_worker(gpu, SIGKILL); }, "SIGKILL");
}
TEST_F(faults, a_segmentation_fault_answers_a_thousand_queued_requests_with_context_lost) {
  with_a_thousand_queued([&] { gpu.tell(crash{.how = ending::segmentation_fault}); }, "SIGSEGV");
}
TEST_F(faults, an_abort_answers_a_thousand_queued_requests_with_context_lost) {
  with_a_thousand_queued([&] { gpu.tell(crash{.how = ending::abort}); }, "SIGABRT");
}
TEST_F(faults, an_exit_answers_a_thousand_queued_requests_with_context_lost) {
  with_a_thousand_queued([&] { gpu.tell(crash{.how = ending::exit}); }, "exited with code 7");
}

TEST_F(faults, requests_finished_before_the_death_succeed) {
  const auto x = gpu.alloc<float>(100);
  gpu.fill(x, 3.0f);
  auto before = gpu.download(x);
  ASSERT_OK(gpu.sync().get());
  kill_worker(gpu);
  EXPECT_EQ(before.get().value(), std::vector<float>(100, 3.0f));
  expect_stopped_with("SIGKILL");
}

TEST_F(faults, buffers_are_stale_after_the_death_with_the_cause) {
  const auto x = gpu.alloc<float>(100);
  EXPECT_OK(gpu.fill(x, 3.0f).get());
  EXPECT_TRUE(x.readable());
  kill_worker(gpu);
  (void)gpu.stopped().get();
  EXPECT_FALSE(x.readable());
  EXPECT_TRUE(is_error(*x.cause(), reaction::context_lost, {"SIGKILL"}));
  EXPECT_TRUE(is_error(error_of(gpu.download(x)), reaction::stopped, {"stopped", "SIGKILL"}));
  const auto later = gpu.alloc<float>(10);
  EXPECT_FALSE(later.readable());
}

TEST_F(faults, a_large_upload_ends_when_the_worker_dies) {
  const std::size_t n = 16 << 20;
  const auto x = gpu.alloc<float>(n);
  const std::vector<float> data(n);
  // The upload waits for this request, while its staging block is full.
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto holding = gpu.ask(hold_slowly{.gate = gate, .result = x.slice(0, 1)});
  std::thread killer([&] {
    while (gpu.statistics().depth < 2) std::this_thread::yield();
    kill_worker(gpu);
  });
  EXPECT_TRUE(is_error(error_of(gpu.upload(x, data)), reaction::context_lost, {"memory.stream_in", "SIGKILL"}));
  killer.join();
  EXPECT_TRUE(is_error(error_of(holding.get()), reaction::context_lost, {"SIGKILL"}));
  expect_stopped_with("SIGKILL");
}

TEST_F(faults, large_downloads_end_when_the_worker_dies) {
  tally answers;
  const std::size_t n = 16 << 20;
  const auto x = gpu.alloc<std::byte>(n);
  EXPECT_OK(gpu.fill(x, std::byte{1}).get());
  for (int i = 0; i < 20; ++i) answers.watch(gpu.download(x));
  kill_worker(gpu);
  answers.await_all();
  EXPECT_EQ(answers.answered(), 20);
  EXPECT_EQ(answers.fine() + answers.failed(reaction::context_lost), 20);
  expect_stopped_with("SIGKILL");
}

TEST_F(faults, threads_that_block_for_an_answer_are_woken_by_the_death) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::atomic<int> asked{0}, lost{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.emplace_back([&] {
      auto answer = gpu.sync();
      asked.fetch_add(1);
      if (error_of(answer.get()).reaction() == reaction::context_lost) lost.fetch_add(1);
    });
  }
  while (asked != 6) std::this_thread::yield();
  kill_worker(gpu);
  for (auto& w : waiting) w.join();
  EXPECT_EQ(lost, 6);
}

TEST_F(faults, coroutines_resume_with_the_error_of_the_death) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const auto wait_for = [](device d) -> task<result<void>> {
    co_await d.sync();
    co_return result<void>();
  };
  thread_pool pool(1);
  auto answer = start(pool, wait_for(gpu));
  while (gpu.statistics().depth < 2) std::this_thread::yield();  // the request has been sent
  kill_worker(gpu);
  EXPECT_TRUE(is_error(error_of(answer.get()), reaction::context_lost, {"SIGKILL"}));
}

}  // namespace
}  // namespace troupe::whole
