// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A thread that waits for one answer sleeps through others, and no thread waits longer because of that.
#include <sys/resource.h>
#include <thread>
#include <troupe/memory/copying/staging.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;
using clock = std::chrono::steady_clock;

class waiting : public testing::TestWithParam<isolation> {
 protected:
  // Returns how often the calling thread has slept so far.
  static long sleeps() {
    rusage used{};
    EXPECT_EQ(::getrusage(RUSAGE_THREAD, &used), 0);
    return used.ru_nvcsw;
  }

  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam(), .wait = wait_policy::efficient}));
};
INSTANTIATE_TEST_SUITE_P(each, waiting, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(waiting, does_not_wake_for_each_of_many_requests) {
  constexpr int requests = 300;
  ASSERT_OK(gpu.sync().get());
  const long before = sleeps();
  for (int i = 1; i < requests; ++i) gpu.tell(nap{.microseconds = 100});
  ASSERT_OK(gpu.ask(nap{.microseconds = 100}).get());
  EXPECT_LT(sleeps() - before, requests / 10);
}

TEST_P(waiting, does_not_wake_for_each_chunk_of_a_download) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const long chunks = static_cast<long>(staging_plan::for_bytes(bytes).count());
  const auto from = gpu.alloc<std::byte>(bytes, {.zeroed = true});
  std::vector<std::byte> to(bytes, std::byte{1});
  const long before = sleeps();
  ASSERT_OK(gpu.download(from, std::span(to)).get());
  EXPECT_LT(sleeps() - before, chunks / 3);
  EXPECT_EQ(to, std::vector<std::byte>(bytes));
}

// An answer that the waiting thread collects too late would arrive after a second, when it looks again.
TEST_P(waiting, does_not_delay_continuations_of_earlier_answers) {
  constexpr int rounds = 20;
  const auto began = clock::now();
  for (int i = 0; i < rounds; ++i) {
    blockade first(gpu), second(gpu);
    std::thread other;
    const auto opens = [&](const result<void>&) { second.lift(); };
    pending<void> opened;
    const auto attach = [&] { opened = std::move(first.answer()).then(opens); };
    if (i % 2 == 0) {
      attach();
      first.lift();
    } else {  // once this thread sleeps
      other = std::thread([&] {
        std::this_thread::sleep_for(5ms);
        attach();
        first.lift();
      });
    }
    EXPECT_OK(second.answer().get());
    if (other.joinable()) other.join();
    EXPECT_OK(opened.get());
  }
  EXPECT_LT(clock::now() - began, std::chrono::milliseconds(500) * rounds);
}

TEST_P(waiting, does_not_keep_the_memory_of_other_answers) {
  constexpr int rounds = 20;
  const memory_quota ours(1 << 20);
  const auto began = clock::now();
  for (int i = 0; i < rounds; ++i) {
    const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
    const auto result = gpu.alloc<float>(1);
    auto held = gpu.ask(hold_slowly{.gate = gate, .result = result});
    std::thread waits([&] { EXPECT_OK(held.get()); });
    std::this_thread::sleep_for(5ms);
    {
      const auto x = gpu.alloc<float>(1, {.quota = ours});
      gpu.tell(increment{.x = x, .n = 1});
    }
    while (ours.used() != 0) std::this_thread::yield();
    std::atomic_ref(gate.data()[opened]).store(1);
    waits.join();
  }
  EXPECT_LT(clock::now() - began, std::chrono::milliseconds(500) * rounds);
}

}  // namespace
}  // namespace troupe::whole
