// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that code that runs when an answer arrives may block, lock, send requests and destroy anything.
#include <filesystem>
#include <mutex>
#include <optional>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class continuations : public testing::TestWithParam<isolation> {
 protected:
  device_options options() const { return with_test_engines({.isolation = GetParam(), .close_timeout = 2s}); }
  runtime rt;
};
INSTANTIATE_TEST_SUITE_P(each, continuations, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(continuations, may_wait_for_answers_that_arrive_with_their_own) {
  const device gpu = rt.open_device(options());
  for (int round = 0; round < 200; ++round) {
    std::optional<blockade> wall(gpu);
    std::vector<pending<void>> later;
    auto first = gpu.ask(count{});
    for (int i = 0; i < 8; ++i) later.push_back(gpu.ask(nap{.microseconds = 0}));
    std::atomic<int> fine{0};
    auto all = std::move(first).then([&](const result<std::uint64_t>&) {
      for (auto& p : later) fine += p.get() ? 1 : 0;
    });
    wall.reset();
    EXPECT_OK(all.get());
    EXPECT_EQ(fine, 8);
  }
}

TEST_P(continuations, may_get_earlier_downloads_after_a_sync) {
  const device gpu = rt.open_device(options());
  for (const std::size_t n : {100u, 1'000'000u}) {
    const auto x = gpu.alloc<float>(n);
    for (int round = 0; round < 30; ++round) {
      gpu.fill(x, static_cast<float>(round));
      auto data = gpu.download(x);
      auto seen = gpu.sync().then([&](const result<void>&) { return data.get(); }).get();
      ASSERT_OK(seen);
      EXPECT_EQ(seen->back(), static_cast<float>(round));
    }
  }
}

// A thread that waits for its own answer may hold a lock that a continuation of another answer needs.
TEST_P(continuations, never_run_on_a_thread_that_waits_for_an_answer_of_its_own) {
  const device gpu = rt.open_device(options());
  std::mutex lock;
  const auto us = std::this_thread::get_id();
  std::atomic<int> here{0}, ran{0};
  for (int round = 0; round < 2000; ++round) {
    gpu.ping(1).then([&](const result<std::uint64_t>&) {
      here += std::this_thread::get_id() == us;
      const std::scoped_lock guard(lock);
      ++ran;
    });
    const std::scoped_lock guard(lock);
    ASSERT_OK(gpu.ping(2).get());
  }
  while (ran.load() < 2000) std::this_thread::yield();
  // A continuation attached to an existing answer runs at once.
  EXPECT_LT(here, 2000);
}

TEST_P(continuations, may_end_the_runtime_while_a_request_is_running) {
  auto own = std::make_shared<runtime>();
  const device gpu = own->open_device(options());
  auto last = gpu.ask(nap{.microseconds = 200'000});
  std::atomic<bool> gone{false};
  gpu.ping(1).then([&gone, own = std::move(own)](const result<std::uint64_t>&) mutable {
    own.reset();
    gone = true;
    gone.notify_all();
  });
  gone.wait(false);
  EXPECT_OK(last.get());
  EXPECT_EQ(gpu.state(), device_state::stopped);
}

TEST_P(continuations, may_end_a_runtime_of_several_devices_when_one_has_stopped) {
  auto own = std::make_shared<runtime>();
  const device first = own->open_device(options()), second = own->open_device(options());
  EXPECT_OK(first.started().get());
  std::atomic<bool> gone{false};
  first.stopped().then([&gone, own = std::move(own)](const result<void>&) mutable {
    own.reset();
    gone = true;
    gone.notify_all();
  });
  (void)first.close();
  gone.wait(false);
  EXPECT_EQ(second.state(), device_state::stopped);
}

task<void> awaits_temporary_requests(device gpu, buffer<float> x, buffer<float> y, bool& kept) {
  for (int i = 0; i < 3; ++i) {
    (void)co_await gpu.ask(testing_actor::copy{.source = x, .target = y, .n = 4});
    (void)co_await gpu.ask(increment{x, 4});
    kept = kept && gpu.statistics().memory.live_buffers == 2;
  }
}

// g++ 12 destroys the members of such temporaries twice.
TEST_P(continuations, leave_reference_counts_of_temporary_requests_unchanged) {
  const device gpu = rt.open_device(options());
  const auto x = gpu.alloc<float>(4), y = gpu.alloc<float>(4);
  gpu.fill(x, 1.0f);
  bool kept = true;
  EXPECT_OK(start(awaits_temporary_requests(gpu, x, y, kept)).get());
  EXPECT_TRUE(kept);
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(4, 4.0f));
}

// A supervisor that replaces a device whose runtime is closing does this.
TEST_P(continuations, cannot_open_devices_in_a_closing_runtime) {
  auto own = std::make_unique<runtime>();
  runtime& closing = *own;
  const device gpu = own->open_device(options());
  EXPECT_OK(gpu.started().get());
  auto seen = gpu.stopped().then([&](const result<void>&) { return closing.open_device(options()).started().get(); });
  own.reset();
  EXPECT_TRUE(is_error(error_of(seen.get()), reaction::stopped, {"closing"}));
}

TEST(continuations_at_death, may_end_the_runtime) {
  for (int round = 0; round < 20; ++round) {
    auto own = std::make_shared<runtime>();
    const device gpu = own->open_device(with_test_engines());
    EXPECT_OK(gpu.started().get());
    const int pid = gpu.statistics().worker_pid.value();
    const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
    std::atomic<bool> gone{false};
    gpu.ask(spin{.gate = gate}).then([&gone, own = std::move(own)](const result<void>& r) mutable {
      EXPECT_TRUE(is_error(error_of(r), reaction::context_lost, {}));
      own.reset();
      gone = true;
      gone.notify_all();
    });
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    gone.wait(false);
    EXPECT_EQ(gpu.state(), device_state::stopped);
  }
}

// A supervisor that replaces devices opens one after the other in the same runtime.
TEST(stopped_devices, leave_no_memory_and_no_threads_in_their_runtime) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  runtime rt;
  const device other = rt.open_device();
  EXPECT_OK(other.started().get());
  auto before = descriptors();
  for (int round = 0; round < 20; ++round) {
    {
      const device gpu = rt.open_device(with_test_engines());
      const auto x = gpu.alloc<float>(1000);
      EXPECT_OK(gpu.fill(x, 1.0f).get());
      EXPECT_EQ(rt.devices().size(), 2u);
      kill_worker(gpu);
      EXPECT_FALSE(gpu.stopped().get());
    }
    for (int i = 0; i < 1000 && descriptors() > before; ++i) std::this_thread::sleep_for(1ms);
    if (round == 0) before = descriptors();
    EXPECT_LE(descriptors(), before);
    EXPECT_EQ(rt.devices().size(), 1u);
  }
  EXPECT_OK(other.ping().get());
}

TEST(stopped_devices, count_requests_that_their_worker_left_unanswered) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const blockade wall(gpu);
  ASSERT_TRUE(wall.entered());
  const std::uint64_t before = gpu.statistics().completed;
  std::vector<pending<void>> lost;
  for (int i = 0; i < 20; ++i) lost.push_back(gpu.ask(nap{.microseconds = 0}));
  kill_worker(gpu);
  EXPECT_FALSE(gpu.stopped().get());
  EXPECT_EQ(gpu.statistics().completed, before + 21);
  EXPECT_EQ(gpu.statistics().failed, 21u);
}

}  // namespace
}  // namespace troupe::whole
