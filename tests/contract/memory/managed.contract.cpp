// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of managed memory, on the engine under test.
#include <fstream>
#include <troupe/device/managed.hpp>
#include <troupe/device/peers.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/device/sharing.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

using place = managed_range::place;

bool on_gpu() { return engine_under_test() != "host"; }

TEST(managed_memory, holds_what_requests_write_to_it) {
  for (const device_options& o : both_isolations()) {
    SCOPED_TRACE(describe(o));
    runtime rt;
    const device gpu = rt.open_device(o);
    const auto x = alloc_managed<float>(gpu, 100000, {.zeroed = true}), y = alloc_managed<float>(gpu, 100000);
    ASSERT_TRUE(x.readable()) << x.cause()->to_string();
    const auto ordinary = gpu.alloc<float>(100000);
    EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(100000, 0.f));
    gpu.upload(x, counting(100000));
    gpu.copy(ordinary, x);
    gpu.copy(y, ordinary);
    gpu.fill(x.slice(0, 10), 5.f);
    EXPECT_EQ(gpu.download(y).get().value(), counting(100000));
    EXPECT_EQ(gpu.download(x).get().value()[9], 5.f);
    EXPECT_EQ(gpu.download(x).get().value()[10], 10.f);
    const memory_statistics s = gpu.statistics().memory;
    EXPECT_EQ(s.managed_bytes, 800000u);
    EXPECT_EQ(s.imported_bytes, 0u);
  }
}

TEST(managed_memory, keeps_its_content_when_prefetched_to_either_place) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = alloc_managed<float>(gpu, 3000000);
  gpu.upload(x, counting(3000000));
  for (const managed_place to : {managed_place::device, managed_place::host, managed_place::device}) {
    ASSERT_OK(prefetch(gpu, x, to).get());
    ASSERT_OK(prefetch(gpu, x.slice(7, 1000), to).get());
    EXPECT_EQ(gpu.download(x).get().value(), counting(3000000));
  }
}

TEST(managed_memory, accepts_every_advice_and_reports_the_advice_in_force) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = alloc_managed<float>(gpu, 3000000, {.zeroed = true});
  using enum managed_advice;
  if (!on_gpu()) {
    for (const managed_advice a :
         {read_mostly, no_read_mostly, preferred_location, no_preferred_location, accessed_by, no_accessed_by})
      EXPECT_TRUE(is_error(error_of(advise(gpu, x, a)), reaction::unsupported, {"host engine", "omit it"}));
    EXPECT_TRUE(is_error(error_of(managed(gpu, x)), reaction::unsupported, {"host engine"}));
    EXPECT_TRUE(x.readable());
    return;
  }
  const auto now = [&] { return managed(gpu, x).get().value(); };
  ASSERT_OK(advise(gpu, x, read_mostly).get());
  EXPECT_TRUE(now().read_mostly);
  ASSERT_OK(advise(gpu, x, no_read_mostly).get());
  EXPECT_FALSE(now().read_mostly);
  EXPECT_EQ(now().preferred, place::none);
  ASSERT_OK(advise(gpu, x, preferred_location).get());
  EXPECT_EQ(now().preferred, place::device);
  ASSERT_OK(advise(gpu, x, preferred_location, managed_place::host).get());
  EXPECT_EQ(now().preferred, place::host);
  ASSERT_OK(advise(gpu, x, no_preferred_location).get());
  EXPECT_EQ(now().preferred, place::none);
  ASSERT_OK(advise(gpu, x, accessed_by).get());
  EXPECT_TRUE(now().accessed_by_device);
  EXPECT_FALSE(now().accessed_by_host);
  ASSERT_OK(advise(gpu, x, accessed_by, managed_place::host).get());
  EXPECT_TRUE(now().accessed_by_host);
  ASSERT_OK(advise(gpu, x, no_accessed_by).get());
  EXPECT_FALSE(now().accessed_by_device);
  ASSERT_OK(prefetch(gpu, x, managed_place::device).get());
  EXPECT_EQ(now().prefetched, place::device);
  ASSERT_OK(prefetch(gpu, x, managed_place::host).get());
  EXPECT_EQ(now().prefetched, place::host);
}

TEST(managed_memory, is_the_only_memory_that_accepts_prefetch_and_advice) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(10, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(prefetch(gpu, x, managed_place::host)), reaction::caller_bug,
                       {"range", "not managed memory", "alloc_managed"}));
  EXPECT_TRUE(is_error(error_of(advise(gpu, x, managed_advice::read_mostly)), reaction::caller_bug, {"alloc_managed"}));
  EXPECT_TRUE(is_error(error_of(managed(gpu, x)), reaction::caller_bug, {"alloc_managed"}));
  const auto y = alloc_managed<float>(gpu, 10, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(prefetch(gpu, y, static_cast<managed_place>(7))), reaction::caller_bug,
                       {"to is 7; expected device or host"}));
  EXPECT_TRUE(is_error(error_of(advise(gpu, y, static_cast<managed_advice>(7))), reaction::caller_bug, {"what is 7"}));
  EXPECT_TRUE(is_error(error_of(prefetch(gpu, buffer<float>(), managed_place::host)), reaction::caller_bug, {"empty"}));
  EXPECT_TRUE(y.readable());
}

TEST(managed_memory, is_refused_with_the_reason_if_it_cannot_be_allocated) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto why = [&](extent n, const alloc_options& o) { return *alloc_managed<float>(gpu, n, o).cause(); };
  EXPECT_TRUE(is_error(why(0, {}), reaction::caller_bug, {"alloc_managed", "at least 1"}));
  EXPECT_TRUE(is_error(why(extent(1LL << 62) * 4, {}), reaction::caller_bug, {"64 bits"}));
  EXPECT_TRUE(is_error(why(1, {.alignment = 8192}), reaction::caller_bug, {"alignment", "4096"}));
  EXPECT_TRUE(is_error(why(1, {.sealable = true}), reaction::caller_bug, {"sealable"}));
  const auto x = alloc_managed<float>(gpu, 10, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(export_memory(gpu, x)), reaction::unsupported, {"managed", "no descriptor"}));
  EXPECT_TRUE(is_error(error_of(seal(gpu, x)), reaction::caller_bug, {"seal"}));
  EXPECT_OK(gpu.download(x).get());
  ASSERT_OK(gpu.close().get());
  EXPECT_TRUE(is_error(why(1, {}), reaction::stopped, {"closed"}));
}

TEST(managed_memory, counts_against_a_quota_while_a_handle_exists) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const memory_quota quota(1 << 20);
  {
    const auto x = alloc_managed<std::byte>(gpu, 1 << 20, {.quota = quota});
    EXPECT_TRUE(x.readable());
    EXPECT_EQ(quota.used(), 1u << 20);
    EXPECT_TRUE(
        is_error(*alloc_managed<std::byte>(gpu, 1, {.quota = quota}).cause(), reaction::retry_later, {"quota"}));
    EXPECT_EQ(gpu.statistics().memory.managed_bytes, 1u << 20);
  }
  EXPECT_EQ(quota.used(), 0u);
  EXPECT_EQ(gpu.statistics().memory.managed_bytes, 0u);
}

TEST(managed_memory, is_lost_with_its_worker_with_the_reason) {
  for (const salvage how : {salvage::strict, salvage::untouched}) {
    runtime rt;
    auto o = with_test_engines({.salvage = how});
    o.restarts = 3;
    const device gpu = rt.open_device(o);
    const auto x = alloc_managed<float>(gpu, 10, {.zeroed = true});
    ASSERT_OK(gpu.sync().get());
    kill_and_wait(gpu);
    EXPECT_TRUE(is_error(error_of(gpu.download(x)), reaction::context_lost, {"SIGKILL", "allocate it again"}));
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(is_error(error_of(gpu.fill(x, 1.f)), reaction::context_lost, {"SIGKILL", "allocate it again"}));
    EXPECT_FALSE(x.readable());
    EXPECT_TRUE(is_error(error_of(prefetch(gpu, x, managed_place::host)), reaction::context_lost, {"allocate"}));
    const auto again = alloc_managed<float>(gpu, 10);
    gpu.upload(again, counting(10));
    EXPECT_EQ(gpu.download(again).get().value(), counting(10));
    EXPECT_EQ(gpu.statistics().faults, 1u);
  }
}

TEST(managed_memory, can_be_copied_to_another_device) {
  runtime rt;
  const device here = rt.open_device(with_test_engines()), there = rt.open_device(with_test_engines());
  const auto from = alloc_managed<float>(there, 100000), to = alloc_managed<float>(here, 100000);
  there.upload(from, counting(100000));
  ASSERT_OK(copy_between(here, to, there, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(100000));
}

}  // namespace
}  // namespace troupe::whole
