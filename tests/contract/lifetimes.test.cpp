// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that objects can be destroyed in any order.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <troupe/graph/graph.hpp>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

class lifetimes : public testing::TestWithParam<isolation> {
 protected:
  device_options options() const { return with_test_engines({.isolation = GetParam()}); }
};
INSTANTIATE_TEST_SUITE_P(each, lifetimes, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(lifetimes, runtime_device_buffers_and_answers_may_be_destroyed_in_any_order) {
  std::vector<int> order{0, 1, 2, 3, 4, 5};
  std::mt19937_64 random(seed_or(11));
  for (int round = 0; round < 25; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    SCOPED_TRACE(testing::PrintToString(order));
    auto rt = std::make_optional<runtime>();
    std::optional<device> gpu = rt->open_device(options());
    std::optional<buffer<float>> x = gpu->alloc<float>(100'000);
    std::optional<host_buffer<float>> h = gpu->alloc_host<float>(100'000, {.zeroed = true});
    gpu->upload(*x, *h);
    std::optional<pending<std::vector<float>>> down = gpu->download(*x);
    std::optional<pending<void>> into = gpu->download(*x, *h);
    for (const int what : order) {
      switch (what) {
        case 0:
          rt.reset();
          break;
        case 1:
          gpu.reset();
          break;
        case 2:
          x.reset();
          break;
        case 3:
          h.reset();
          break;
        case 4:
          down.reset();
          break;
        case 5:
          into.reset();
          break;
      }
    }
  }
}

TEST_P(lifetimes, handles_that_outlive_the_runtime_report_a_closed_device) {
  std::optional<device> gpu;
  buffer<float> x;
  host_buffer<float> h;
  pending<std::vector<float>> down;
  pending<void> stopped;
  {
    runtime rt;
    gpu = rt.open_device(options());
    x = gpu->alloc<float>(100);
    h = gpu->alloc_host<float>(100);
    gpu->fill(x, 2.0f);
    down = gpu->download(x);
    stopped = gpu->stopped();
  }
  EXPECT_EQ(down.get().value(), std::vector<float>(100, 2.0f)) << "the runtime waits for what is queued";
  EXPECT_OK(stopped.get());
  EXPECT_EQ(gpu->state(), device_state::stopped);
  EXPECT_FALSE(x.readable());
  EXPECT_TRUE(is_error(error_of(gpu->download(x)), reaction::stopped, {"closed"}));
  EXPECT_TRUE(is_error(error_of(gpu->upload(x, h)), reaction::stopped, {"closed"}));
  EXPECT_FALSE(gpu->alloc<float>(1).readable());
  gpu.reset();
  EXPECT_FALSE(x.readable());
  EXPECT_TRUE(is_error(*x.cause(), reaction::stopped, {"closed"}));
  EXPECT_FALSE(x.slice(0, 5).readable());
  ASSERT_NE(h.data(), nullptr);
  h[99] = 1.0f;  // the memory is still valid
}

TEST_P(lifetimes, a_dropped_pending_is_answered_and_its_memory_kept_until_then) {
  runtime rt;
  const device gpu = rt.open_device(options());
  const auto before = gpu.statistics();
  const auto y = gpu.alloc<float>(100'000);
  {
    const auto x = gpu.alloc<float>(100'000);
    gpu.fill(x, 4.0f);
    gpu.ask(testing_actor::copy{
        .source = x, .target = y, .n = 100'000});  // the pending is dropped, and x, too, before the request has run
    gpu.download(x);
  }
  EXPECT_EQ(gpu.download(y).get().value(), std::vector<float>(100'000, 4.0f));
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(gpu.statistics().memory.live_buffers, before.memory.live_buffers + 1);
}

TEST_P(lifetimes, the_last_handle_may_be_destroyed_in_a_continuation_of_stopped) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> reported{false};
    {
      runtime rt;
      auto gpu = std::make_shared<device>(rt.open_device(options()));
      gpu->stopped().then([gpu, &reported](const result<void>&) mutable {
        gpu.reset();
        reported = true;
        reported.notify_all();
      });
      gpu->tell(nap{.microseconds = 10});
    }
    reported.wait(false);
  }
}

TEST_P(lifetimes, the_last_handle_may_be_destroyed_in_the_continuation_of_an_answer) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> done{false};
    {
      runtime rt;
      auto gpu = std::make_shared<device>(rt.open_device(options()));
      auto x = gpu->alloc<float>(50'000);
      gpu->fill(x, 1.0f);
      auto down = gpu->download(x);
      std::move(down).then(
          [gpu = std::move(gpu), x = std::move(x), &done](const result<std::vector<float>>& r) mutable {
            EXPECT_OK(r);
            x = {};
            gpu.reset();
            done = true;
          });
    }
    EXPECT_TRUE(done) << "answered before the runtime was gone";
  }
}

TEST_P(lifetimes, a_long_time_out_does_not_keep_the_memory_of_a_closed_device) {
  const auto mapped = [] {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    int n = 0;
    while (std::getline(maps, line)) n += line.find("troupe-") != std::string::npos;
    return n;
  };
  const int before = mapped();
  {
    runtime rt;
    const device gpu = rt.open_device(options());
    const auto h = gpu.alloc_host<float>(10, {.zeroed = true});
    const auto x = gpu.alloc<float>(10);
    EXPECT_OK(gpu.upload(x, h, {.timeout = 1h}).get());
  }
  // The library's own threads release the last handle soon after.
  for (int i = 0; i < 5000 && mapped() != before; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(mapped(), before);
}

TEST_P(lifetimes, no_threads_outlive_the_runtime_and_its_handles) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  auto before = threads();
  for (int i = 0; i < 10; ++i) {
    if (i == 1) before = threads();  // a sanitizer may have started a thread of its own
    std::optional<device> kept;
    {
      runtime rt;
      kept = rt.open_device(options());
      EXPECT_OK(kept->sync().get());
    }
    if (i > 0) {  // the system may list a thread for a moment after it was joined
      for (int tries = 0; threads() > before && tries < 1000; ++tries) std::this_thread::sleep_for(1ms);
      EXPECT_LE(threads(), before);
    }
    EXPECT_OK(kept->close().get());  // needs no thread, because none is left
    EXPECT_EQ(kept->state(), device_state::stopped);
    (void)kept->statistics();
  }
}

TEST_P(lifetimes, a_runtime_may_be_destroyed_in_a_continuation_of_stopped) {
  std::atomic<bool> gone{false};
  auto rt = std::make_shared<runtime>();
  const device gpu = rt->open_device(options());
  EXPECT_OK(gpu.sync().get());
  gpu.stopped().then([&gone, rt = std::move(rt)](const result<void>&) mutable {
    rt.reset();
    gone = true;
    gone.notify_all();
  });
  (void)gpu.close();
  gone.wait(false);
}

TEST_P(lifetimes, a_runtime_may_be_destroyed_in_the_continuation_of_an_answer) {
  std::atomic<bool> gone{false};
  auto rt = std::make_shared<runtime>();
  const device gpu = rt->open_device(options());
  gpu.ping(1).then([&gone, rt = std::move(rt)](const result<std::uint64_t>&) mutable {
    rt.reset();
    gone = true;
    gone.notify_all();
  });
  gone.wait(false);
  EXPECT_EQ(gpu.state(), device_state::stopped);
}

TEST_P(lifetimes, no_descriptors_and_no_processes_are_left) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto once = [&] {
    runtime rt;
    const device gpu = rt.open_device(options());
    EXPECT_OK(gpu.sync().get());
    const auto x = gpu.alloc<float>(1000);
    EXPECT_OK(gpu.fill(x, 1.0f).get());
  };
  const auto before = descriptors();
  for (int i = 0; i < 10; ++i) once();
  // The library's own threads release the last handle soon after.
  for (int i = 0; i < 5000 && descriptors() > before; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_LE(descriptors(), before);
}

TEST_P(lifetimes, runtimes_may_be_made_and_destroyed_by_several_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        runtime rt;
        const device gpu = rt.open_device(options());
        EXPECT_OK(gpu.ping(9).get());
      }
    });
  }
  for (auto& t : threads) t.join();
}

// Worker threads share the addresses of this process. For a moment, each uses some of them.
TEST(addresses, suffice_for_many_devices_with_worker_threads) {
  for (int round = 0; round < 3; ++round) {
    runtime rt;
    std::vector<device> all;
    for (int i = 0; i < 6; ++i)
      all.push_back(
          rt.open_device({.isolation = isolation::thread, .memory_limit = 1 << 30, .host_memory_limit = 1 << 30}));
    for (const device& gpu : all) {
      const auto x = gpu.alloc<int>(100);
      EXPECT_OK(gpu.fill(x, 7).get());
      EXPECT_OK(gpu.download(x).get());
    }
  }
}

TEST_P(lifetimes, a_device_closes_with_its_last_handle) {
  runtime rt;
  std::optional<device> gpu = rt.open_device(options()), copy = gpu;
  const auto x = gpu->alloc<float>(100);
  const auto h = gpu->alloc_host<float>(100, {.zeroed = true});
  ASSERT_OK(gpu->upload(x, counting(100)).get());
  ASSERT_TRUE(x.readable());
  const auto pid = gpu->statistics().worker_pid;
  auto stopped = gpu->stopped();
  auto events = gpu->watch();
  gpu.reset();
  EXPECT_TRUE(copy->ready());
  EXPECT_EQ(rt.devices().size(), 1u) << "devices() makes and drops another handle";
  EXPECT_OK(copy->ping().get());
  copy->tell(nap{.microseconds = 1000});
  copy->download(x, h);
  copy.reset();
  EXPECT_OK(stopped.get());
  EXPECT_EQ(rt.devices().size(), 0u);
  EXPECT_EQ(std::vector<float>(h.begin(), h.end()), counting(100)) << "requests that were sent before are served";
  EXPECT_TRUE(is_error(*x.cause(), reaction::stopped, {"was closed because its last handle is gone"}));
  EXPECT_EQ(x.slice(3, 4).size(), 4);
  if (pid) {
    EXPECT_TRUE(has_ended(*pid)) << "its process has ended";
  }
  auto first = events.poll();
  // The worker may have answered before the event that it serves was emitted.
  if (first && first->kind == event_kind::serving) first = events.poll();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, event_kind::closing);
}

TEST_P(lifetimes, pendings_and_graphs_keep_a_device_open) {
  runtime rt;
  graph::graph steps;
  pending<void> stopped;
  pending<std::vector<float>> down;
  const auto open = [&] { return rt.devices().size(); };
  {
    const device gpu = rt.open_device(options());
    stopped = gpu.stopped();
    const auto x = gpu.alloc<float>(10);
    graph::recorder rec(gpu);
    rec.fill(x, 2);
    steps = rec.finish();
    gpu.tell(graph::launch{.graph = steps});
    down = gpu.download(x);
  }
  EXPECT_EQ(open(), 1u);
  EXPECT_EQ(down.get().value(), std::vector<float>(10, 2));
  down = {};
  EXPECT_EQ(open(), 1u);
  EXPECT_FALSE(stopped.ready());
  steps = {};
  EXPECT_OK(stopped.get());
  EXPECT_EQ(open(), 0u);
}

TEST_P(lifetimes, an_unused_device_closes_at_once) {
  for (int i = 0; i < 10; ++i) {
    runtime rt;
    (void)rt.open_device(options());
  }
  runtime never_used;
}

}  // namespace
}  // namespace troupe::whole
