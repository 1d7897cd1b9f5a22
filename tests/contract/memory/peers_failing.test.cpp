// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of copies between devices that fail: read by the target's worker, or through host memory.
#include <troupe/device/peers.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/device/sharing.hpp>
#include "peers_fixture.hpp"

namespace troupe::whole::peers_tests {
namespace {

TEST_P(copies_between_devices, work_after_a_restart_of_either) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(100000), to = here.alloc<float>(100000);
  for (int i = 0; i < 3; ++i) {
    there.upload(from, counting(100000, static_cast<float>(i)));
    ASSERT_OK(copy_between(here, to, there, from).get());
    EXPECT_EQ(here.download(to).get().value(), counting(100000, static_cast<float>(i)));
    replace_worker(i == 0 ? here : there);
  }
}

TEST_P(copies_between_devices, are_answered_once_each_while_workers_die) {
  const device one = open(), two = open();
  const auto x = one.alloc<float>(200000, {.zeroed = true}), y = two.alloc<float>(200000, {.zeroed = true});
  tally answers;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 20; ++i) {
      one.fill(x, 1.f);
      answers.watch(copy_between(two, y, one, x));
      two.fill(y, 2.f);
      answers.watch(copy_between(one, x, two, y));
    }
    replace_worker(round % 2 == 0 ? one : two);
  }
  answers.await_all();
  EXPECT_EQ(answers.answered(), 160);
  one.fill(x, 5.f);
  copy_between(two, y, one, x);
  EXPECT_EQ(two.download(y).get().value(), std::vector<float>(200000, 5.f));
}

TEST_P(copies_between_devices, block_neither_device_when_cancelled) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  blockade b(there);
  ASSERT_TRUE(b.entered());
  there.tell(increment{.x = from, .n = 10});
  auto copied = copy_between(here, to, there, from);
  copied.cancel();
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::retry_later, {"cancelled"}));
  EXPECT_FALSE(to.readable());
  EXPECT_OK(here.fill(to, 1.f).get());
  b.lift();
  EXPECT_OK(there.fill(from, 1.f).get());
}

TEST_P(copies_between_devices, time_out_if_they_cannot_start) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  blockade b(there);
  ASSERT_TRUE(b.entered());
  there.tell(increment{.x = from, .n = 10});
  EXPECT_TRUE(
      is_error(error_of(copy_between(here, to, there, from, {.timeout = 20ms})), reaction::retry_later, {"time-out"}));
  EXPECT_OK(here.fill(to, 1.f).get());
  b.lift();
}

TEST_P(copies_between_devices, do_not_count_as_running_while_they_wait_for_the_other_device) {
  const auto limited_waits_for_busy = [&](bool limited_is_target) {
    const device limited = open({.inline_bytes = 0, .run_timeout = 100ms}), busy = open({.inline_bytes = 0});
    const device &here = limited_is_target ? limited : busy, &there = limited_is_target ? busy : limited;
    const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
    blockade b(busy);
    ASSERT_TRUE(b.entered());
    busy.tell(increment{.x = limited_is_target ? from : to, .n = 10});
    auto copied = copy_between(here, to, there, from);
    std::this_thread::sleep_for(400ms);
    b.lift();
    EXPECT_OK(copied.get());
    EXPECT_EQ(limited.statistics().faults, 0u);
  };
  limited_waits_for_busy(true);
  limited_waits_for_busy(false);
}

TEST_P(copies_between_devices, end_when_either_device_closes) {
  for (const bool source_closes : {true, false}) {
    const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
    const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
    blockade b(there);
    ASSERT_TRUE(b.entered());
    there.tell(increment{.x = from, .n = 10});
    auto copied = copy_between(here, to, there, from);
    auto closed = (source_closes ? there : here).close_now();
    if (source_closes) {
      EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::stopped, {"closed"}));
      b.lift();
      EXPECT_OK(closed.get());
      EXPECT_OK(here.fill(to, 1.f).get());
      EXPECT_TRUE(is_error(error_of(copy_between(here, to, there, from)), reaction::stopped, {"closed"}));
    } else {
      b.lift();
      (void)copied.get();
      EXPECT_OK(there.fill(from, 1.f).get());
      EXPECT_OK(closed.get());
      EXPECT_FALSE(copy_between(here, to, there, from).get());
      EXPECT_OK(there.fill(from, 1.f).get());
    }
  }
}

TEST_P(copies_between_devices, are_refused_with_a_reason_that_becomes_the_cause_of_the_stale_target) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(copy_between(here, to, there, from, {.retries = 1})), reaction::unsupported,
                       {"retries", "copy again"}));
  EXPECT_FALSE(to.readable());
  EXPECT_TRUE(is_error(error_of(copy_between(here, to.slice(0, 9), there, from)), reaction::caller_bug,
                       {"memory.copy_between.", "target", "holds 36 bytes", "at least 40"}));
  const auto theirs = there.alloc<float>(10);
  EXPECT_TRUE(
      is_error(error_of(copy_between(here, theirs, there, from)), reaction::caller_bug, {"target", "another device"}));
  EXPECT_TRUE(is_error(error_of(copy_between(here, to, there, to)), reaction::caller_bug, {"another device"}));
  EXPECT_TRUE(
      is_error(error_of(copy_between(here, to, there, buffer<float>())), reaction::caller_bug, {"source", "empty"}));
  EXPECT_TRUE(
      is_error(error_of(copy_between(here, to, there, there.alloc<float>(-1))), reaction::caller_bug, {"alloc"}));
  const auto sealed = here.alloc<float>(10, {.zeroed = true, .sealable = true});
  ASSERT_OK(seal(here, sealed).get());
  EXPECT_TRUE(is_error(error_of(copy_between(here, sealed, there, from)), reaction::caller_bug, {"sealed"}));
  EXPECT_TRUE(sealed.readable());
  EXPECT_OK(copy_between(here, to, there, from).get());
  EXPECT_OK(there.fill(from, 1.f).get());
}

// A device with a worker thread shares the addresses of the whole program, and has few of its own.
TEST_P(copies_between_devices, are_staged_if_the_sources_memory_exceeds_the_addresses) {
  constexpr std::uint64_t bytes = std::uint64_t{100} << 30;
  const device here = open({.isolation = isolation::thread, .memory_limit = 64 << 20}),
               there = open({.memory_limit = bytes});
  const auto from = import_memory<float>(there, {.descriptor = memory_of_others(bytes),
                                                 .offset_bytes = bytes - 4000,
                                                 .bytes = 4000,
                                                 .allocation_bytes = bytes}),
             near = there.alloc<float>(1000), to = here.alloc<float>(1000);
  ASSERT_TRUE(from.readable()) << from.cause()->to_string();
  there.upload(from, counting(1000));
  ASSERT_OK(copy_between(here, to, there, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(1000));
  EXPECT_EQ(seen(here, there).seen_bytes, 0u);
  there.upload(near, counting(1000, 5));
  ASSERT_OK(copy_between(here, to, there, near).get());
  EXPECT_EQ(here.download(to).get().value(), counting(1000, 5));
  EXPECT_EQ(seen(here, there).direct, GetParam() == path::direct) << "memory within the addresses is read directly";
}

TEST_P(copies_between_devices, let_the_source_trim_its_memory) {
  const device here = open(), there = open();
  auto from = there.alloc<float>(10, {.zeroed = true});
  const auto to = here.alloc<float>(10);
  ASSERT_OK(copy_between(here, to, there, from).get());
  from = {};
  ASSERT_OK(there.sync().get());
  const std::uint64_t shared = seen(here, there).shared_bytes;
  EXPECT_GT(shared, 0u);
  EXPECT_GT(there.trim(), 0u);
  while (seen(here, there).seen_bytes != 0) std::this_thread::yield();
  EXPECT_GE(here.trim(), shared);
  EXPECT_EQ(seen(here, there).shared_bytes, 0u);
  from = there.alloc<float>(10);
  there.upload(from, counting(10));
  ASSERT_OK(copy_between(here, to, there, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(10));
}

TEST_P(copies_between_devices, outlive_the_handles_of_the_devices_and_of_the_buffers) {
  pending<std::vector<float>> answer;
  {
    const device here = open(), there = open();
    const auto from = there.alloc<float>(100000), to = here.alloc<float>(100000);
    there.upload(from, counting(100000));
    copy_between(here, to, there, from);
    answer = here.download(to);
  }
  EXPECT_EQ(answer.get().value(), counting(100000));
}

TEST(staged_copies_between_devices, are_refused_when_too_many_are_in_flight) {
  runtime rt;
  const device here = rt.open_device(with_test_engines({.inline_bytes = 0})),
               there = rt.open_device(with_test_engines({.peer_access = false, .inline_bytes = 0}));
  const std::size_t n = 2 << 20;
  const auto from = there.alloc<float>(n, {.zeroed = true}), to = here.alloc<float>(n);
  blockade b(there);
  ASSERT_TRUE(b.entered());
  there.tell(increment{.x = from, .n = n});
  std::vector<pending<void>> all;
  for (int i = 0; i < 100; ++i) all.push_back(copy_between(here, to, there, from));
  b.lift();
  int refused = 0;
  for (auto& a : all) {
    const auto got = a.get();
    if (got) continue;
    ++refused;
    EXPECT_TRUE(is_error(got.error(), reaction::retry_later, {"256 MiB", "await"}));
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 60);
  EXPECT_OK(copy_between(here, to, there, from).get());
}

TEST(staged_copies_between_devices, copy_adopted_memory) {
  runtime rt;
  const device here = rt.open_device(with_test_engines()),
               there = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  static std::vector<float> theirs = counting(1000);  // not freed: see sanitizer.cpp
  const auto from = adopt_memory(there, theirs.data(), 1000, std::make_shared<int>());
  const auto to = here.alloc<float>(1000);
  ASSERT_OK(copy_between(here, to, there, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(1000));
}

TEST(peers, are_linked_through_host_memory) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), two = rt.open_device(with_test_engines()),
               apart = rt.open_device(with_test_engines({.peer_access = false}));
  const auto seen = peer(one, two);
  ASSERT_OK(seen);
  EXPECT_TRUE(seen->access);
  EXPECT_TRUE(seen->native_atomics);
  EXPECT_EQ(seen->link, peer_link::memory);
  EXPECT_EQ(to_string(seen->link), "memory");
  EXPECT_FALSE(peer(one, apart)->access);
  EXPECT_FALSE(peer(apart, one)->access);
  const device all[] = {one, apart, two};
  const auto groups = islands(all);
  ASSERT_OK(groups);
  EXPECT_EQ(*groups, (std::vector<std::vector<device>>{{one, two}, {apart}}));
  EXPECT_TRUE(islands({})->empty());
}

TEST(peers, are_mapped_before_the_first_copy_if_enabled) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), two = rt.open_device(with_test_engines()),
               apart = rt.open_device(with_test_engines({.peer_access = false}));
  const auto x = two.alloc<float>(10, {.zeroed = true});
  ASSERT_OK(enable_peer(one, two));
  ASSERT_EQ(one.statistics().peers.size(), 1u);
  EXPECT_EQ(one.statistics().peers[0].seen_bytes, two.statistics().memory.reserved_bytes);
  EXPECT_EQ(one.statistics().peers[0].copies, 0u);
  EXPECT_OK(enable_peer(one, one));
  EXPECT_TRUE(is_error(error_of(enable_peer(one, apart)), reaction::unsupported, {"no access", "copy_between"}));
}

}  // namespace
}  // namespace troupe::whole::peers_tests
