// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that the faults that users inject into their own services have the documented effects.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // its handlers turn some signals into an exit code
#else
constexpr bool sanitized = false;
#endif

class fault_injection : public testing::Test {
 protected:
  device open(device_options o = {}) {
    o.restarts = 1000;
    const device gpu = rt.open_device(o);
    EXPECT_TRUE(gpu.started().get());  // a fault before that stops the device
    return gpu;
  }
  // Waits until a worker serves and `count` standbys are ready.
  static device_statistics await_standbys(const device& gpu, std::size_t count) {
    EXPECT_TRUE(gpu.ping().get());
    while (gpu.statistics().standby_pids.size() < count) std::this_thread::yield();
    return gpu.statistics();
  }
  static void expect_serving(const device& gpu) {
    const auto pong = gpu.ping(7).get();
    EXPECT_TRUE(pong && *pong == 7) << (pong ? "the reply is not 7" : pong.error().to_string());
  }
  runtime rt;
};

struct ending {
  const char* name;
  const char* words;
  std::function<pending<void>(const device&, faults::optional_memory)> ask;
};
template <class R>
ending ends(const char* name, const char* words) {
  return {name, words,
          [](const device& gpu, faults::optional_memory m) { return gpu.ask(R{.through = std::move(m)}); }};
}

class injected_fault : public fault_injection, public testing::WithParamInterface<ending> {};

TEST_P(injected_fault, loses_the_worker_and_the_buffers_of_the_request) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(100);
  gpu.fill(x, 1.f);
  auto answer = GetParam().ask(gpu, x.as<std::byte>());
  const auto outcome = answer.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reaction(), reaction::context_lost) << outcome.error().to_string();
  if (!sanitized) {
    EXPECT_NE(outcome.error().to_string().find(GetParam().words), std::string::npos) << outcome.error().to_string();
  }
  const auto lost = gpu.download(x).get();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().reaction(), reaction::context_lost);
  EXPECT_TRUE(gpu.fill(x, 2.f).get());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(100, 2.f));
  EXPECT_EQ(gpu.statistics().generation, 2u);
}

TEST_P(injected_fault, needs_no_buffer_operands) {
  const device gpu = open();
  const auto outcome = GetParam().ask(gpu, {}).get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reaction(), reaction::context_lost) << outcome.error().to_string();
  expect_serving(gpu);
}

INSTANTIATE_TEST_SUITE_P(faults, injected_fault,
                         testing::Values(ends<faults::segmentation_fault>("segmentation_fault", "SIGSEGV"),
                                         ends<faults::abort>("abort", "SIGABRT"),
                                         ends<faults::abort_in_helper>("abort_in_helper", "SIGABRT"),
                                         ends<faults::illegal_instruction>("illegal_instruction", "SIGILL"),
                                         ends<faults::floating_point_trap>("floating_point_trap", "SIGFPE"),
                                         ends<faults::exit>("exit", "code 1"),
                                         ends<faults::stack_overflow>("stack_overflow", "SIGSEGV"),
                                         ends<faults::failed_assertion>("failed_assertion", "SIGABRT"),
                                         ends<faults::shared_memory_overflow>("shared_memory_overflow", "SIGSEGV"),
                                         ends<faults::exhaust_memory>("exhaust_memory", "SIGABRT")),
                         [](const auto& i) { return i.param.name; });

TEST_F(fault_injection, a_limited_hang_ends_successfully) {
  const device gpu = open();
  const auto x = gpu.alloc<int>(4);
  gpu.fill(x, 3);
  const auto before = std::chrono::steady_clock::now();
  const auto outcome = gpu.ask(faults::hang{.through = x.as<std::byte>(), .milliseconds = 30}).get();
  EXPECT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<int>(4, 3)) << "the target is unchanged";
}

TEST_F(fault_injection, an_unlimited_hang_lasts_until_the_worker_is_killed) {
  const device gpu = open();
  auto answer = gpu.ask(faults::hang{});
  EXPECT_FALSE(answer.get_for(50ms));
  EXPECT_EQ(faults::injector(gpu).kill_worker(), 1);
  const auto outcome = answer.get();
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().to_string().find("SIGKILL"), std::string::npos) << outcome.error().to_string();
  expect_serving(gpu);
}

TEST_F(fault_injection, exhausting_memory_fails_at_the_limit) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's worker does not start with a limit on its addresses";
  const device gpu = open({.worker_memory_limit = std::uint64_t{1} << 30});
  // Without the limit, this request would exhaust the machine's memory.
  const auto outcome = gpu.ask(faults::exhaust_memory{.most_bytes = std::int64_t{1} << 50}).get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reaction(), reaction::context_lost) << outcome.error().to_string();
  expect_serving(gpu);
}

TEST_F(fault_injection, a_wild_write_changes_its_target_silently) {
  const device gpu = open();
  const auto x = gpu.alloc<std::uint32_t>(100), y = gpu.alloc<std::uint32_t>(100);
  gpu.fill(x, 1u);
  ASSERT_TRUE(gpu.fill(y, 2u).get());
  auto blow = faults::wild_write::over(x);
  blow.pattern = 0x12345678;
  EXPECT_TRUE(gpu.ask(blow).get());
  EXPECT_TRUE(x.readable());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<std::uint32_t>(100, 0x12345678));
  EXPECT_EQ(gpu.download(y).get().value(), std::vector<std::uint32_t>(100, 2));
}

TEST_F(fault_injection, garbage_in_shared_memory_is_detected_and_no_answer_is_lost) {
  const device gpu = open();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::uint64_t before = gpu.statistics().generation;
    auto answer = gpu.ask(faults::garbage{.seed = seed});
    const auto outcome = answer.get_for(20s);
    ASSERT_TRUE(outcome) << "no answer, seed " << seed;
    // The worker's failure was detected already, or the next answer shows it.
    std::optional<result<std::uint64_t>> pong;
    for (int i = 0; i < 1000 && gpu.statistics().generation == before; ++i) pong = gpu.ping(seed).get_for(20s);
    EXPECT_GT(gpu.statistics().generation, before) << "seed " << seed;
    expect_serving(gpu);
  }
}

TEST_F(fault_injection, invalid_faults_are_refused) {
  const device gpu = open();
  const auto refused = [](const result<void>& r) { return !r && r.error().reaction() == reaction::caller_bug; };
  EXPECT_TRUE(refused(gpu.ask(faults::exit{.code = 256}).get()));
  EXPECT_TRUE(refused(gpu.ask(faults::exit{.code = -1}).get()));
  EXPECT_TRUE(refused(gpu.ask(faults::hang{.milliseconds = -1}).get()));
  EXPECT_TRUE(refused(gpu.ask(faults::exhaust_memory{.most_bytes = 0}).get()));
  EXPECT_TRUE(refused(gpu.ask(faults::wild_write{.address = 2, .bytes = 4}).get()));
  EXPECT_TRUE(refused(gpu.ask(faults::wild_write{.address = 4, .bytes = 0}).get()));
  expect_serving(gpu);
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST_F(fault_injection, statistics_name_the_standbys) {
  const device gpu = open({.standbys = 2});
  const device_statistics s = await_standbys(gpu, 2);
  ASSERT_EQ(s.standby_pids.size(), 2u);
  EXPECT_NE(s.standby_pids[0], s.standby_pids[1]);
  for (const int pid : s.standby_pids) {
    EXPECT_NE(pid, s.worker_pid);
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_TRUE(gpu.close().get());
  EXPECT_TRUE(gpu.statistics().standby_pids.empty());
}

TEST_F(fault_injection, the_injector_kills_the_worker_and_a_standby_takes_over) {
  const device gpu = open();
  const device_statistics before = await_standbys(gpu, 1);
  EXPECT_EQ(faults::injector(gpu).kill_worker(), 1);
  while (gpu.statistics().generation == before.generation) std::this_thread::yield();
  expect_serving(gpu);
  EXPECT_EQ(gpu.statistics().worker_pid.value(), before.standby_pids.front());
}

TEST_F(fault_injection, the_injector_kills_a_standby_without_effect_on_requests) {
  const device gpu = open();
  const device_statistics before = await_standbys(gpu, 1);
  EXPECT_EQ(faults::injector(gpu).kill_standby(), 1);
  EXPECT_EQ(faults::injector(gpu).kill_standby(1), 0) << "there is no second standby";
  expect_serving(gpu);
  // Another standby is started.
  while (true) {
    const device_statistics now = gpu.statistics();
    if (now.standby_pids.size() == 1 && now.standby_pids != before.standby_pids) break;
    std::this_thread::yield();
  }
  EXPECT_EQ(gpu.statistics().worker_pid.value(), before.worker_pid);
  EXPECT_EQ(gpu.statistics().generation, before.generation);
}

TEST_F(fault_injection, the_injector_kills_all_workers_and_the_device_recovers) {
  const device gpu = open();
  const device_statistics before = await_standbys(gpu, 1);
  EXPECT_EQ(faults::injector(gpu).kill_all(), 2);
  while (gpu.statistics().generation == before.generation) std::this_thread::yield();
  expect_serving(gpu);
}

TEST_F(fault_injection, a_stopped_worker_answers_after_it_is_continued) {
  const device gpu = open();
  await_standbys(gpu, 1);
  const faults::injector inject(gpu);
  EXPECT_EQ(inject.stop_worker(), 1);
  auto pong = gpu.ping(5);
  EXPECT_FALSE(pong.get_for(50ms));
  EXPECT_EQ(inject.continue_worker(), 1);
  EXPECT_EQ(pong.get().value(), 5u);
}

TEST_F(fault_injection, the_injector_does_not_hit_a_worker_that_is_a_thread) {
  const device gpu = open();
  EXPECT_TRUE(gpu.ping().get());
  EXPECT_TRUE(gpu.close().get());
  EXPECT_EQ(faults::injector(gpu).kill_worker(), 0);
  EXPECT_EQ(faults::injector(gpu).kill_standby(), 0);
  EXPECT_EQ(faults::injector(gpu).kill_all(), 0);
  const device thread = open({.isolation = isolation::thread});
  EXPECT_TRUE(thread.ping().get());
  EXPECT_EQ(faults::injector(thread).kill_all(), 0);
  expect_serving(thread);
}

std::vector<faults::kind> kinds_of(const std::vector<faults::injection>& all) {
  std::vector<faults::kind> out;
  for (const auto& i : all) out.push_back(i.kind);
  return out;
}

TEST_F(fault_injection, a_storm_repeats_its_order_of_faults_for_a_seed_and_records_them) {
  using enum faults::kind;
  const auto run = [this](std::uint64_t seed) {
    const device gpu = open();
    faults::storm s(gpu,
                    {.kinds = {kill_worker, segmentation_fault, abort}, .seed = seed, .per_second = 1000, .most = 12});
    s.wait();
    EXPECT_EQ(s.count(), 12u);
    const auto record = s.record();
    std::int64_t last = 0;
    for (const faults::injection& i : record) {
      EXPECT_TRUE(i.hit) << to_string(i.kind);
      EXPECT_TRUE(i.recovered()) << to_string(i.kind);
      EXPECT_GT(i.recovery_ns(), 0);
      EXPECT_GE(i.at_ns, last) << "faults occur one at a time";
      last = i.answers_ns;
    }
    EXPECT_EQ(gpu.statistics().generation, 13u);
    expect_serving(gpu);
    return kinds_of(record);
  };
  const auto first = run(7), again = run(7), other = run(8);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST_F(fault_injection, a_storm_stops_on_request) {
  const device gpu = open();
  EXPECT_TRUE(gpu.ping().get());
  faults::storm s(gpu, {.per_second = 0.001});
  s.stop();
  EXPECT_EQ(s.count(), 0u);
  expect_serving(gpu);
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST_F(fault_injection, a_worker_that_a_storm_stops_continues_after_its_time) {
  using enum faults::kind;
  const device gpu = open();
  await_standbys(gpu, 1);
  faults::storm s(
      gpu, {.kinds = {stop_worker, stop_standby, hang}, .seed = 1, .per_second = 1000, .most = 6, .pause = 20ms});
  s.wait();
  for (const faults::injection& i : s.record()) {
    EXPECT_TRUE(i.hit) << to_string(i.kind);
    EXPECT_GT(i.answers_ns, i.at_ns) << to_string(i.kind);
  }
  expect_serving(gpu);
  EXPECT_EQ(gpu.statistics().generation, 1u) << "no worker was lost";
}

TEST_F(fault_injection, a_worker_that_a_storm_stops_or_hangs_is_replaced_by_a_device_with_time_limits) {
  using enum faults::kind;
  const device gpu = open({.heartbeat_timeout = 50ms});
  await_standbys(gpu, 1);
  faults::storm s(gpu,
                  {.kinds = {stop_worker, hang}, .per_second = 1000, .most = 6, .pause = 20s, .run_timeout = 50ms});
  s.wait();
  for (const faults::injection& i : s.record()) {
    EXPECT_TRUE(i.recovered()) << to_string(i.kind);
    EXPECT_LT(i.recovery_ns(), 10'000'000'000) << to_string(i.kind);
  }
  EXPECT_EQ(gpu.statistics().generation, 7u);
  EXPECT_EQ(gpu.statistics().quarantined, 0u) << "each request has another number";
}

TEST_F(fault_injection, a_storm_of_all_kinds_at_once_leaves_a_serving_device) {
  const device gpu = open();
  expect_serving(gpu);  // a first worker that dies before it is ready stops the device
  faults::storm s(gpu, {.seed = 3, .per_second = 200, .most = 60, .one_at_a_time = false, .pause = 20ms});
  s.wait();
  s.stop();
  // The last fault may have lost a request that was sent after it.
  auto pong = gpu.ping().get();
  for (int i = 0; i < 60 && !pong && pong.error().reaction() == reaction::context_lost; ++i) pong = gpu.ping().get();
  EXPECT_TRUE(pong) << pong.error().to_string();
}

TEST_F(fault_injection, a_stopped_device_is_not_hit_and_does_not_end_the_storm) {
  const device gpu = rt.open_device({.restarts = 0});
  EXPECT_TRUE(gpu.ping().get());
  faults::storm s(gpu, {.kinds = {faults::kind::kill_worker, faults::kind::abort}, .per_second = 1000, .most = 10});
  s.wait();
  const auto record = s.record();
  ASSERT_EQ(record.size(), 10u);
  EXPECT_TRUE(record.front().hit);
  EXPECT_FALSE(record.back().hit);
  EXPECT_FALSE(record.front().recovered());
  EXPECT_EQ(gpu.state(), device_state::stopped);
}

TEST(fault_kinds, are_found_by_their_names) {
  EXPECT_EQ(faults::all_kinds().size(), faults::kind_count);
  for (const faults::kind k : faults::all_kinds()) EXPECT_EQ(faults::kind_of(to_string(k)), k);
  EXPECT_EQ(to_string(faults::kind::kill_promoted), "kill_promoted");
  EXPECT_FALSE(faults::kind_of("earthquake"));
}

}  // namespace
}  // namespace troupe
