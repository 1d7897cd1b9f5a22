// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Many threads ask one device at once: every ask is answered exactly once, and nothing is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <thread>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/runtime/runtime.hpp>

#include "engine/requests.hpp"
#include "retry_while_full.hpp"

namespace {

using namespace troupe;
using graph_test::retry_while_full;

#if TROUPE_ADDRESS_SANITIZER || TROUPE_THREAD_SANITIZER
constexpr int rounds = 400;
#else
constexpr int rounds = 4000;
#endif
constexpr int producers = 8;

device_options options(std::uint32_t capacity, when_full full, isolation where, wait_policy wait) {
  device_options o;
  o.engine_folders = {GRAPH_ENGINE_FOLDER};
  o.libraries = {"flow"};
  o.mailbox_capacity = capacity;
  o.when_full = full;
  o.isolation = where;
  o.wait = wait;
  return o;
}

struct counts {
  std::atomic<std::uint64_t> answers{0}, twice{0}, values_wrong{0}, refused{0}, failures_wrong{0};
};

// Each thread adds `rounds` times to its own words, with tells and asks in all ways, and failures in between.
void produce(const device& gpu, int thread, counts& c, std::vector<std::uint64_t>& tickets) {
  const std::uint32_t words = 16;
  auto x = gpu.alloc<std::uint32_t>(words), scratch = gpu.alloc<std::uint32_t>(words),
       spoiled = gpu.alloc<std::uint32_t>(words);
  const auto set = [&gpu](const buffer<std::uint32_t>& b, std::uint32_t value) {
    EXPECT_TRUE(retry_while_full([&] { return gpu.fill(b, value); }));
  };
  set(x, 0), set(scratch, 7), set(spoiled, 7);
  std::uint32_t expected = 0;
  std::vector<std::atomic<int>> called(rounds);
  std::vector<pending<std::uint64_t>> kept;
  std::vector<pending<int>> calls;
  const flow::affine<std::uint32_t> increment{.x = x, .n = words, .inc = 1, .a = 1, .b = 1, .work_us = 0};
  for (int i = 0; i < rounds; ++i) {
    const auto value = static_cast<std::uint64_t>(thread) << 32 | static_cast<unsigned>(i);
    switch (i % 5) {
      case 0: {
        accepted s = gpu.tell(increment);
        // A refused request leaves its outputs stale: start again from a known value.
        if (s)
          tickets.push_back(s.ticket()), expected = expected + 1;
        else {
          ++c.refused;
          set(x, expected);
        }
        break;
      }
      case 1:
        calls.push_back(gpu.ping(value).then([&c, &called, i, value](result<std::uint64_t> answer) {
          if (called[static_cast<std::size_t>(i)].fetch_add(1) != 0) ++c.twice;
          if (answer && *answer != value) ++c.values_wrong;
          ++c.answers;
          return 0;
        }));
        break;
      case 2:
        kept.push_back(gpu.ping(value));
        break;
      case 3: {
        result<std::uint64_t> answer = gpu.ping(value).get();
        if (answer && *answer != value) ++c.values_wrong;
        ++c.answers;
        break;
      }
      case 4: {
        set(spoiled, 7);
        result<void> failed =
            gpu.ask(flow::fail<std::uint32_t>{
                        .x = scratch, .y = spoiled, .z = spoiled, .step = value, .throws = false, .work_us = 0})
                .get();
        if (failed || failed.error().reaction() != reaction::caller_bug) ++c.failures_wrong;  // y and z overlap
        auto z = gpu.alloc<std::uint32_t>(words);
        set(spoiled, 7);
        gpu.ask(flow::fail<std::uint32_t>{
                    .x = scratch, .y = spoiled, .z = z, .step = value, .throws = false, .work_us = 0})
            .detach();
        result<std::vector<std::uint32_t>> reader = gpu.download(z).get();
        if (reader || (reader.error().text() != "step " + std::to_string(value) + " was asked to fail" &&
                       reader.error().reaction() != reaction::retry_later))
          ++c.failures_wrong;
        ++c.answers;
        break;
      }
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    result<std::uint64_t> answer = kept[i].get();
    if (answer && *answer != (static_cast<std::uint64_t>(thread) << 32 | (5 * i + 2))) ++c.values_wrong;
    ++c.answers;
  }
  for (auto& p : calls) (void)p.get();
  const auto last = retry_while_full([&] { return gpu.download(x); });
  if (!last || *last != std::vector<std::uint32_t>(words, expected)) ++c.values_wrong;
}

void many_producers(const device_options& o) {
  runtime rt;
  const device gpu = rt.open_device(o);
  counts c;
  std::vector<std::vector<std::uint64_t>> tickets(producers);
  std::barrier all(producers);
  std::vector<std::thread> threads;
  for (int t = 0; t < producers; ++t) {
    threads.emplace_back([&, t] {
      all.arrive_and_wait();
      produce(gpu, t, c, tickets[static_cast<std::size_t>(t)]);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(c.answers, std::uint64_t{producers} * rounds / 5 * 4);
  EXPECT_EQ(c.twice, 0u);
  EXPECT_EQ(c.values_wrong, 0u);
  EXPECT_EQ(c.failures_wrong, 0u);
  std::set<std::uint64_t> different;
  std::size_t count = 0;
  for (const auto& mine : tickets) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    different.insert(mine.begin(), mine.end());
    count += mine.size();
  }
  EXPECT_EQ(different.size(), count) << "two requests had the same place in the mailbox";
  EXPECT_EQ(count + c.refused, std::uint64_t{producers} * rounds / 5);
  if (o.when_full == when_full::wait) {
    EXPECT_EQ(c.refused, 0u);
  }
  EXPECT_TRUE(retry_while_full([&] { return gpu.sync(); }));
  EXPECT_EQ(gpu.statistics().depth, 0u);
  EXPECT_EQ(gpu.statistics().memory.live_buffers, 0u) << "a request that was answered still holds memory";
}

TEST(many_producers, are_all_answered_once_by_a_worker_process) {
  many_producers(options(1024, when_full::wait, isolation::process, wait_policy::balanced));
}
TEST(many_producers, are_all_answered_once_by_a_worker_thread) {
  many_producers(options(1024, when_full::wait, isolation::thread, wait_policy::balanced));
}
TEST(many_producers, are_all_answered_once_when_they_wait_for_room) {
  many_producers(options(4, when_full::wait, isolation::process, wait_policy::efficient));
}
TEST(many_producers, are_all_answered_once_when_a_full_mailbox_refuses) {
  many_producers(options(8, when_full::refuse, isolation::thread, wait_policy::efficient));
}
TEST(many_producers, are_all_answered_once_when_all_threads_spin) {
  many_producers(options(256, when_full::refuse, isolation::process, wait_policy::latency));
}

}  // namespace
