// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of the memory of a device, with a real worker: limits, quotas, exact statistics, growth and trimming.
#include <array>
#include <random>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;
constexpr std::uint64_t mib = 1 << 20;

TEST(memory, statistics_are_exact_and_return_to_zero) {
  runtime rt;
  const device gpu = rt.open_device({.memory_limit = 256 * mib, .host_memory_limit = 64 * mib});
  const auto fresh = gpu.statistics();
  EXPECT_EQ(fresh.memory.total_bytes, 256 * mib);
  EXPECT_EQ(fresh.memory.free_bytes, 256 * mib);
  EXPECT_EQ(fresh.memory.used_bytes, 0u);
  EXPECT_EQ(fresh.memory.reserved_bytes, 0u) << "no memory is taken from the system before it is needed";
  EXPECT_EQ(fresh.host_memory.total_bytes, 64 * mib);
  EXPECT_EQ(fresh.engine, "host");
  EXPECT_EQ(fresh.name, "host:0");
  EXPECT_EQ(fresh.capacity, 1024u);
  EXPECT_EQ(fresh.generation, 1u);
  {
    const auto a = gpu.alloc<float>(1), b = gpu.alloc<float>(64), c = gpu.alloc<float>(65);
    const auto copy = a;
    const auto slice = b.slice(0, 10);
    const auto s = gpu.statistics().memory;
    EXPECT_EQ(s.used_bytes, 256u + 256u + 512u);
    EXPECT_EQ(s.free_bytes, 256 * mib - 1024);
    EXPECT_EQ(s.live_buffers, 3u);
    EXPECT_EQ(s.allocations, 3u);
    const auto h = gpu.alloc_host<std::byte>(1000);
    EXPECT_EQ(gpu.statistics().host_memory.used_bytes, 1024u);
    EXPECT_EQ(gpu.statistics().host_memory.live_buffers, 1u);
  }
  const auto after = gpu.statistics();
  EXPECT_EQ(after.memory.used_bytes, 0u);
  EXPECT_EQ(after.memory.live_buffers, 0u);
  EXPECT_EQ(after.memory.free_bytes, 256 * mib);
  EXPECT_EQ(after.memory.high_water_bytes, 1024u);
  EXPECT_EQ(after.memory.fragmentation, 0.0);
  EXPECT_EQ(after.host_memory.used_bytes, 0u);
}

TEST(memory, statistics_return_to_zero_after_transfers_failures_and_refusals) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  {
    const auto x = gpu.alloc<float>(500'000), y = gpu.alloc<float>(500'000);
    gpu.upload(x, counting(500'000));
    gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 500'000});
    (void)gpu.download(y).get();
    gpu.tell(spoil{.target = y, .n = 500'000, .text = std::string(100, 'x')});
    (void)gpu.download(y).get();
    gpu.tell(testing_actor::copy{.source = x, .target = y, .n = -1});
    (void)gpu.ask(checksum{.text = "text", .list = {1, 2, 3}}).get();
    gpu.ask(increment{.x = x, .n = 1}).cancel();
    EXPECT_OK(gpu.sync().get());
  }
  const auto s = gpu.statistics();
  EXPECT_EQ(s.memory.used_bytes, 0u);
  EXPECT_EQ(s.memory.live_buffers, 0u);
  EXPECT_EQ(s.host_memory.used_bytes, 0u);
  EXPECT_EQ(s.host_memory.live_buffers, 0u);
  EXPECT_EQ(s.depth, 0u);
  EXPECT_GE(s.completed, 5u);
  EXPECT_GE(s.failed, 1u);
}

TEST(memory, the_limit_holds_to_the_granule_and_freed_memory_is_reused) {
  for (const std::uint64_t limit : {std::uint64_t{256 * 10}, 1 * mib, 3 * mib + 256}) {
    SCOPED_TRACE(limit);
    runtime rt;
    const device gpu = rt.open_device({.memory_limit = limit});
    std::vector<buffer<std::byte>> all;
    const std::uint64_t each = limit / 10 / 256 * 256;
    while (all.size() < 20) {
      auto b = gpu.alloc<std::byte>(each);
      if (!b.readable()) {
        EXPECT_TRUE(
            is_error(*b.cause(), reaction::retry_later, {"alloc", std::to_string(each).c_str(), "memory_limit"}));
        break;
      }
      all.push_back(std::move(b));
    }
    EXPECT_EQ(all.size(), limit / each);
    EXPECT_LE(gpu.statistics().memory.used_bytes, limit);
    EXPECT_EQ(gpu.statistics().memory.failed_allocations, 1u);
    all.pop_back();
    EXPECT_TRUE(gpu.alloc<std::byte>(each).readable());
    all.clear();
    EXPECT_TRUE(gpu.alloc<std::byte>(limit).readable()) << "all of the memory in one buffer";
    EXPECT_TRUE(is_error(*gpu.alloc<std::byte>(limit + 1).cause(), reaction::caller_bug,
                         {std::to_string(limit).c_str(), "device_options::memory_limit"}));
  }
}

TEST(memory, memory_held_by_requests_is_free_when_they_are_done) {
  runtime rt;
  const device gpu = rt.open_device({.memory_limit = 8 * mib});
  for (int i = 0; i < 200; ++i) {
    const auto x = gpu.alloc<std::byte>(6 * mib);  // only one such buffer fits
    if (x.readable())
      gpu.fill(x, std::byte{1});
    else
      (void)gpu.sync().get();
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_TRUE(gpu.alloc<std::byte>(8 * mib).readable());
}

TEST(memory, a_request_that_finds_no_staging_memory_is_refused_and_its_output_stale) {
  constexpr std::uint64_t free_bytes = 64 << 10;
  struct {
    std::uint64_t held_bytes;
    reaction how;
    const char* word;
  } const cases[] = {{0, reaction::caller_bug, "host_memory_limit"}, {64 * mib, reaction::retry_later, "no room"}};
  for (const auto& [held_bytes, how, word] : cases) {
    SCOPED_TRACE(held_bytes);
    runtime rt;
    const device gpu = rt.open_device({.host_memory_limit = held_bytes + free_bytes});
    const auto held = held_bytes == 0 ? host_buffer<std::byte>() : gpu.alloc_host<std::byte>(held_bytes);
    const auto x = gpu.alloc<float>(1'000'000);
    EXPECT_OK(gpu.fill(x, 1.0f).get());
    EXPECT_TRUE(is_error(error_of(gpu.upload(x, counting(1'000'000))), how, {"memory.stream_in", word}));
    EXPECT_FALSE(x.readable());
    EXPECT_OK(gpu.fill(x, 1.0f).get());
    EXPECT_TRUE(is_error(error_of(gpu.download(x)), how, {"memory.stream_out", word}));
    EXPECT_TRUE(x.readable());
    EXPECT_EQ(gpu.download(x.slice(0, 10)).get().value(), std::vector<float>(10, 1.0f)) << "a small download fits";
  }
}

TEST(memory, quotas_are_shared_enforced_and_returned) {
  runtime rt;
  const device one = rt.open_device({}), two = rt.open_device({.isolation = isolation::thread});
  const memory_quota quota(10'000);
  EXPECT_EQ(quota.limit(), 10'000u);
  {
    const auto a = one.alloc<std::byte>(4000, {.quota = quota});
    const auto b = two.alloc<std::byte>(4000, {.quota = quota});
    EXPECT_EQ(quota.used(), 2 * 4096u);
    const auto c = one.alloc<std::byte>(4000, {.quota = quota});
    EXPECT_FALSE(c.readable());
    EXPECT_TRUE(is_error(*c.cause(), reaction::retry_later, {"quota", "4000", "10000", "8192"}));
    EXPECT_TRUE(one.alloc<std::byte>(4000).readable()) << "others are not affected";
    EXPECT_EQ(quota.used(), 2 * 4096u);
  }
  EXPECT_EQ(quota.used(), 0u);
  const memory_quota small(1000);
  EXPECT_FALSE(one.alloc<std::byte>(std::int64_t{1} << 50, {.quota = memory_quota(UINT64_MAX)}).readable());
  EXPECT_FALSE(one.alloc<std::byte>(1001, {.quota = small}).readable());
  EXPECT_EQ(small.used(), 0u);
}

TEST(memory, bools_arrive_as_they_were_sent) {
  runtime rt;
  const device gpu = rt.open_device();
  std::vector<bool> packed(70'000);
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = i % 3 == 1;
  const buffer<bool> x = gpu.upload(packed);
  const std::vector<std::uint8_t> got = gpu.download(x).get().value();
  ASSERT_EQ(got.size(), packed.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], i % 3 == 1 ? 1 : 0) << "element " << i;
  gpu.fill(x, false);
  ASSERT_TRUE(gpu.upload(x, got).get());
  EXPECT_EQ(gpu.download(x).get().value(), got);
  const std::array<bool, 3> few{true, false, true};
  EXPECT_EQ(gpu.download(gpu.upload(few)).get().value(), (std::vector<std::uint8_t>{1, 0, 1}));
  std::array<bool, 3> to{};
  ASSERT_TRUE(gpu.download(gpu.upload(few), to).get());
  EXPECT_EQ(to, few);
}

TEST(memory, invalid_sizes_and_alignments_are_refused) {
  runtime rt;
  const device gpu = rt.open_device();
  for (const extent& n :
       {extent(-1), extent(INT64_MIN + 5), extent(INT64_MAX), extent(INT64_MAX) * 2, extent(UINT64_MAX)}) {
    const auto x = gpu.alloc<double>(n);
    EXPECT_FALSE(x.readable());
    EXPECT_TRUE(is_error(*x.cause(), reaction::caller_bug, {"alloc: "}));
    EXPECT_TRUE(is_error(error_of(gpu.fill(x, 1.0)), reaction::caller_bug, {"alloc: "}));
    EXPECT_FALSE(gpu.alloc_host<double>(n).readable());
    EXPECT_EQ(gpu.alloc_host<double>(n).span().size(), 0u);
  }
  for (const std::uint64_t a : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{257}, UINT64_MAX}) {
    const auto x = gpu.alloc<double>(1, {.alignment = a});
    EXPECT_TRUE(is_error(*x.cause(), reaction::caller_bug, {"alignment", "power of two"}));
  }
  EXPECT_TRUE(
      is_error(*gpu.alloc<double>(1, {.alignment = std::uint64_t{1} << 63}).cause(), reaction::retry_later, {"alloc"}));
  EXPECT_EQ(gpu.statistics().memory.live_buffers, 0u);
}

TEST(memory, alignments_hold_for_every_power_of_two) {
  runtime rt;
  const device gpu = rt.open_device({.memory_limit = 512 * mib});
  std::vector<buffer<std::byte>> all;
  for (std::uint64_t a = 1; a <= 32 * mib; a *= 2) {
    all.push_back(gpu.alloc<std::byte>(100, {.alignment = a}));
    ASSERT_TRUE(all.back().readable()) << a;
    EXPECT_EQ(all.back().memory().address % a, 0u) << a;
    EXPECT_EQ(all.back().memory().address % 256, 0u);
  }
}

TEST(memory, zeroed_memory_is_zero_even_if_it_is_reused) {
  for (auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device({.isolation = where});
    for (const std::size_t n : {10u, 300'000u}) {
      std::uint64_t address = 0;
      {
        const auto x = gpu.alloc<float>(n);
        address = x.memory().address;
        EXPECT_OK(gpu.fill(x, 3.0f).get());
        const auto h = gpu.alloc_host<float>(n);
        std::fill(h.begin(), h.end(), 3.0f);
      }
      (void)gpu.statistics();
      const auto again = gpu.alloc<float>(n, {.zeroed = true});
      EXPECT_EQ(again.memory().address, address) << "the test needs the same memory again";
      EXPECT_EQ(gpu.download(again).get().value(), std::vector<float>(n, 0.0f));
      const auto h = gpu.alloc_host<float>(n, {.zeroed = true});
      for (const float v : h) ASSERT_EQ(v, 0.0f);
    }
  }
}

TEST(memory, grows_over_several_segments_and_trims_them_away) {
  for (auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device({.isolation = where, .memory_limit = 1024 * mib});
    std::vector<buffer<float>> all;
    const std::size_t n = 4 * mib;  // 16 MiB each
    for (int i = 0; i < 24; ++i) {
      all.push_back(gpu.alloc<float>(n));
      gpu.fill(all.back().slice(0, 1000), static_cast<float>(i));
      gpu.fill(all.back().slice(n - 1000, 1000), static_cast<float>(-i));
    }
    for (int i = 0; i < 24; ++i) {
      EXPECT_EQ(gpu.download(all[static_cast<std::size_t>(i)].slice(999, 1)).get().value()[0], static_cast<float>(i));
      EXPECT_EQ(gpu.download(all[static_cast<std::size_t>(i)].slice(n - 1)).get().value()[0], static_cast<float>(-i));
    }
    EXPECT_GE(gpu.statistics().memory.reserved_bytes, 384 * mib);
    const std::uint64_t in_use = gpu.trim();
    all.clear();
    EXPECT_OK(gpu.sync().get());
    EXPECT_GE(gpu.trim(), 384 * mib - in_use);
    EXPECT_EQ(gpu.statistics().memory.reserved_bytes, 0u);
    const auto again = gpu.alloc<float>(n);
    EXPECT_OK(gpu.fill(again, 5.0f).get());
    EXPECT_EQ(gpu.download(again.slice(n - 1)).get().value()[0], 5.0f);
  }
}

TEST(memory, unused_segments_are_freed_for_a_larger_buffer) {
  runtime rt;
  const device gpu = rt.open_device({.memory_limit = 256 * mib});
  {
    std::vector<buffer<std::byte>> four;
    for (int i = 0; i < 4; ++i) four.push_back(gpu.alloc<std::byte>(64 * mib));
    EXPECT_TRUE(four.back().readable());
  }
  const auto whole = gpu.alloc<std::byte>(256 * mib);
  EXPECT_TRUE(whole.readable()) << error_text(gpu.fill(whole, std::byte{0}).get());
  EXPECT_OK(gpu.fill(whole.slice(255 * mib), std::byte{1}).get());
}

TEST(memory, addresses_do_not_run_out_however_often_sizes_change) {
  runtime rt;
  const device gpu = rt.open_device({.memory_limit = 256 * mib});
  std::mt19937_64 random(seed_or(31));
  for (int i = 0; i < 60; ++i) {
    const auto x = gpu.alloc<std::byte>((65 + random() % 190) * mib + 1);
    ASSERT_TRUE(x.readable()) << "round " << i << ": " << x.cause()->to_string();
    EXPECT_OK(gpu.fill(x.slice(0, 10), std::byte{1}).get());
  }
}

TEST(memory, buffers_of_many_allocating_threads_never_overlap) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 4096}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(seed_or(41) + static_cast<std::uint64_t>(t));
      for (int i = 0; i < 150; ++i) {
        const std::size_t n = 1 + random() % 5000;
        const auto x = gpu.alloc<float>(n);
        const float mine = static_cast<float>(t * 1000 + i);
        gpu.fill(x, mine);
        gpu.tell(increment{.x = x, .n = n});
        const auto got = gpu.download(x).get();
        ASSERT_OK(got);
        ASSERT_EQ(*got, std::vector<float>(n, mine + 1));
      }
    });
  }
  for (auto& t : threads) t.join();
  // A download may be answered just before its request is retired, and the request keeps its memory alive until then.
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (gpu.statistics().memory.live_buffers != 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(gpu.statistics().memory.live_buffers, 0u);
}

}  // namespace
}  // namespace troupe::whole
