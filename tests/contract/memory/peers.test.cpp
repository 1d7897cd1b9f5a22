// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of copies between devices: read by the target's worker, or through host memory.
#include <troupe/device/peers.hpp>
#include <troupe/device/sealing.hpp>
#include "peers_fixture.hpp"

namespace troupe::whole::peers_tests {
namespace {

INSTANTIATE_TEST_SUITE_P(by, copies_between_devices, testing::Values(path::direct, path::staged),
                         [](const auto& i) { return i.param == path::direct ? "direct" : "staged"; });

TEST_P(copies_between_devices, copy_every_byte_at_any_size) {
  const device here = open(), there = open();
  std::uint64_t bytes = 0, copies = 0;
  for (const std::size_t n : {1, 1000, 16 << 10, (64 << 10) + 3, 5 << 20}) {
    const auto from = there.alloc<float>(n), to = here.alloc<float>(n);
    there.upload(from, counting(n));
    ASSERT_OK(copy_between(here, to, there, from).get());
    EXPECT_EQ(here.download(to).get().value(), counting(n)) << n;
    bytes += n * sizeof(float);
    ++copies;
  }
  const peer_statistics s = seen(here, there);
  EXPECT_EQ(s.direct, GetParam() == path::direct);
  EXPECT_EQ(s.copies, copies);
  EXPECT_EQ(s.bytes, bytes);
  EXPECT_EQ(s.seen_bytes != 0, s.direct);
  EXPECT_GT(s.shared_bytes, 0u);
  EXPECT_EQ(here.statistics().memory.imported_bytes, 0u) << "the user imported that memory";
}

TEST_P(copies_between_devices, copy_parts_of_buffers) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(100), to = here.alloc<float>(50, {.zeroed = true});
  there.upload(from, counting(100));
  ASSERT_OK(copy_between(here, to.slice(20), there, from.slice(40, 10)).get());
  auto expected = std::vector<float>(50, 0.f);
  std::iota(expected.begin() + 20, expected.begin() + 30, 40.f);
  EXPECT_EQ(here.download(to).get().value(), expected);
}

TEST_P(copies_between_devices, work_with_worker_threads) {
  const device here = open({.isolation = isolation::thread}), there = open({.isolation = isolation::thread});
  const auto from = there.alloc<float>(300000), to = here.alloc<float>(300000);
  there.upload(from, counting(300000));
  copy_between(here, to, there, from);
  EXPECT_EQ(here.download(to).get().value(), counting(300000));
}

TEST_P(copies_between_devices, are_ordinary_copies_within_one_device) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(10), y = gpu.alloc<float>(10);
  gpu.upload(x, counting(10));
  ASSERT_OK(copy_between(gpu, y, gpu, x).get());
  EXPECT_EQ(gpu.download(y).get().value(), counting(10));
  EXPECT_TRUE(gpu.statistics().peers.empty());
}

TEST_P(copies_between_devices, keep_their_place_in_the_order_of_the_source) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  blockade first(there);
  ASSERT_TRUE(first.entered());
  there.tell(increment{.x = from, .n = 10});  // behind the blockade
  auto copied = copy_between(here, to, there, from);
  there.fill(from, 7.f);
  auto seen = here.download(to);
  EXPECT_OK(here.ping().get());
  EXPECT_FALSE(copied.ready());
  EXPECT_FALSE(seen.ready());
  first.lift();
  EXPECT_OK(copied.get());
  EXPECT_EQ(seen.get().value(), std::vector<float>(10, 1.f));
  EXPECT_EQ(there.download(from).get().value(), std::vector<float>(10, 7.f));
}

TEST_P(copies_between_devices, keep_their_place_in_the_order_of_the_target) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  const auto before = here.alloc<float>(10);
  blockade first(here);
  ASSERT_TRUE(first.entered());
  here.tell(increment{.x = to, .n = 10});
  here.copy(before, to);
  auto copied = copy_between(here, to, there, from);
  auto overwritten = there.fill(from, 7.f);  // runs after the copy
  here.tell(increment{.x = to, .n = 10});
  EXPECT_FALSE(copied.ready());
  first.lift();
  EXPECT_OK(overwritten.get());
  EXPECT_EQ(here.download(before).get().value(), std::vector<float>(10, 1.f));
  EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 1.f));
}

TEST_P(copies_between_devices, work_both_ways_at_once_from_many_threads) {
  for (const lane_policy lanes : {lane_policy::per_actor, lane_policy::single}) {
    const device one = open({.lanes = lanes}), two = open({.lanes = lanes});
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&, t] {
        const device &here = t % 2 == 0 ? one : two, &there = t % 2 == 0 ? two : one;
        const std::size_t n = t < 2 ? 100 : 100000;
        const auto x = here.alloc<float>(n), y = there.alloc<float>(n);
        here.upload(x, counting(n));
        for (int i = 0; i < 50; ++i) {
          copy_between(there, y, here, x);
          there.tell(increment{.x = y, .n = static_cast<std::int64_t>(n)});
          here.fill(x, -1.f);
          copy_between(here, x, there, y);
          there.fill(y, -1.f);
        }
        const auto got = here.download(x).get();
        ASSERT_OK(got);
        EXPECT_EQ(*got, counting(n, 50));
      });
    for (std::thread& t : all) t.join();
  }
}

TEST_P(copies_between_devices, wait_for_room_in_both_mailboxes_without_deadlock) {
  const device_options small{.mailbox_capacity = 1, .when_full = when_full::wait};
  const device one = open(small), two = open(small);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      const device &here = t % 2 == 0 ? one : two, &there = t % 2 == 0 ? two : one;
      const auto x = here.alloc<float>(100), y = there.alloc<float>(100);
      EXPECT_OK(here.upload(x, counting(100)).get());
      for (int i = 0; i < 50; ++i) copy_between(there, y, here, x);
      EXPECT_EQ(there.download(y).get().value(), counting(100));
    });
  for (std::thread& t : all) t.join();
}

TEST_P(copies_between_devices, are_refused_whole_if_a_mailbox_is_full) {
  const device here = open({.mailbox_capacity = 2, .when_full = when_full::refuse, .inline_bytes = 0}), there = open();
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10);
  blockade b(here);
  ASSERT_TRUE(b.entered());
  auto second = here.sync();
  EXPECT_TRUE(is_error(error_of(copy_between(here, to, there, from)), reaction::retry_later, {"mailbox", "full"}));
  EXPECT_OK(there.fill(from, 1.f).get());  // no request uses it any longer
  EXPECT_TRUE(is_error(*to.cause(), reaction::retry_later, {"full"}));
  b.lift();
  EXPECT_OK(second.get());
  EXPECT_OK(copy_between(here, to, there, from).get());
}

TEST_P(copies_between_devices, fail_with_the_cause_when_the_source_is_stale) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10, {.zeroed = true});
  ASSERT_FALSE(there.ask(spoil{.target = from, .n = 10, .text = "oh"}).get());
  EXPECT_TRUE(is_error(error_of(copy_between(here, to, there, from)), reaction::unsupported, {"oh", "testing.spoil"}));
  EXPECT_TRUE(is_error(*to.cause(), reaction::unsupported, {"oh"}));
  EXPECT_TRUE(is_error(error_of(here.download(to)), reaction::unsupported, {"oh"}));
}

TEST_P(copies_between_devices, fail_with_the_cause_when_the_source_becomes_stale_meanwhile) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10, {.zeroed = true});
  blockade b(there);
  ASSERT_TRUE(b.entered());
  there.tell(spoil{.target = from, .n = 10, .text = "oh"});
  auto copied = copy_between(here, to, there, from);
  auto read = here.download(to);
  b.lift();
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::unsupported, {"oh", "testing.spoil"}));
  EXPECT_TRUE(is_error(error_of(std::move(read)), reaction::unsupported, {"oh"}));
  EXPECT_FALSE(to.readable());
  EXPECT_EQ(here.statistics().faults, 0u);
}

TEST_P(copies_between_devices, fail_when_the_source_dies_and_the_target_continues) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  ASSERT_OK(
      there.sync().get());  // otherwise, requests that have not started run on the next worker, and nothing is lost
  blockade b(there);
  ASSERT_TRUE(b.entered());
  there.tell(increment{.x = from, .n = 10});
  auto copied = copy_between(here, to, there, from);
  auto read = here.download(to);
  replace_worker(there);
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::context_lost, {"SIGKILL", there.name().c_str()}));
  EXPECT_TRUE(is_error(error_of(std::move(read)), reaction::context_lost, {"SIGKILL", there.name().c_str()}));
  EXPECT_TRUE(is_error(*to.cause(), reaction::context_lost, {there.name().c_str()}));
  EXPECT_EQ(here.statistics().faults, 0u);
  there.upload(from, counting(10));
  copy_between(here, to, there, from);
  EXPECT_EQ(here.download(to).get().value(), counting(10));
}

TEST_P(copies_between_devices, fail_when_the_source_dies_while_the_target_is_busy) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  ASSERT_OK(there.sync().get());
  blockade b(here);
  ASSERT_TRUE(b.entered());
  here.tell(increment{.x = to, .n = 10});
  auto copied = copy_between(here, to, there, from);
  EXPECT_OK(there.ping().get());
  replace_worker(there);
  there.fill(from, 9.f);  // runs on the next worker, before the copy begins
  b.lift();
  const auto got = copied.get();
  if (got) {  // the source's half of the copy had ended before the worker died, so the data arrived
    EXPECT_EQ(GetParam(), path::staged);
    EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 0.f));
  } else {
    EXPECT_TRUE(is_error(got.error(), reaction::context_lost, {"SIGKILL", there.name().c_str()}));
    EXPECT_FALSE(to.readable());
  }
  EXPECT_EQ(here.statistics().faults, 0u);
}

// Repeats until the target dies after its half of the copy has begun: before that, the half is kept for the next
// worker.
TEST_P(copies_between_devices, fail_when_the_target_dies_and_the_source_continues) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10, {.zeroed = true});
  bool lost = false;
  for (int i = 0; i < 50 && !lost; ++i) {
    there.fill(from, 1.f);
    ASSERT_OK(here.sync().get());
    blockade b(there);
    ASSERT_TRUE(b.entered());
    there.tell(increment{.x = from, .n = 10});
    auto copied = copy_between(here, to, there, from);
    EXPECT_OK(here.ping().get());
    replace_worker(here);
    auto after = there.fill(from, 3.f);
    b.lift();
    const auto got = copied.get();
    if (!got) {
      lost = true;
      EXPECT_TRUE(is_error(got.error(), reaction::context_lost, {"SIGKILL", here.name().c_str()}));
      EXPECT_FALSE(to.readable());
    } else {
      EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 2.f));
    }
    EXPECT_OK(after.get());
  }
  EXPECT_TRUE(lost);
  EXPECT_EQ(there.statistics().faults, 0u);
  copy_between(here, to, there, from);
  EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 3.f));
}

TEST_P(copies_between_devices, are_kept_for_the_next_worker_if_the_target_dies_before_they_begin) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10);
  there.upload(from, counting(10));
  ASSERT_OK(there.sync().get());
  blockade b(here);
  ASSERT_TRUE(b.entered());
  const buffer<float> gate(buffer<std::uint32_t>(b.gate().memory()).as<float>());
  auto copied = copy_between(here, gate, there, from.slice(0, 2));  // over the blockade's memory
  auto after = there.fill(from, 3.f);
  kill_worker(here);
  EXPECT_OK(copied.get());
  EXPECT_OK(after.get());
  EXPECT_EQ(here.download(gate).get().value(), counting(2));
}

TEST_P(copies_between_devices, copy_sealed_buffers_after_the_source_died) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.sealable = true}), to = here.alloc<float>(10, {.zeroed = true});
  there.upload(from, counting(10));
  ASSERT_OK(seal(there, from).get());
  ASSERT_OK(copy_between(here, to, there, from).get());
  here.fill(to, 0.f);
  replace_worker(there);
  ASSERT_OK(copy_between(here, to, there, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(10));
}

}  // namespace
}  // namespace troupe::whole::peers_tests
