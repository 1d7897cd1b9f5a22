// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies from one device to another: read by the target's worker, or through memory of the host.
#include <thread>

#include "harness.hpp"
#include "memory_of_others.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

enum class path { direct, staged };

class copies_between_devices : public testing::TestWithParam<path> {
 protected:
  device open(device_options o = {}) {
    o = with_test_engines(std::move(o));
    o.restarts = 100;
    o.peer_access = GetParam() == path::direct;
    return rt.open_device(o);
  }
  // The one from `from`.
  static peer_statistics seen(const device& gpu, const device& from) {
    for (const peer_statistics& p : gpu.statistics().peers)
      if (p.from == from.name()) return p;
    return {};
  }
  // Its worker has been replaced.
  static void kill_and_wait(const device& gpu) {
    const auto now = [&gpu] { return gpu.statistics(); };
    ASSERT_OK(gpu.started().get());  // before that there is no number to compare with
    const std::uint64_t before = now().generation;
    const int pid = now().worker_pid;
    kill_worker(gpu);
    if (HasFatalFailure()) return;
    while (now().generation == before || now().worker_pid == pid) std::this_thread::yield();
  }
  // A request of the device has the buffer, and ends when it is told to.
  static void begin_to_use(const blockade& b) { ASSERT_TRUE(b.entered()); }
  runtime rt;
};
INSTANTIATE_TEST_SUITE_P(by, copies_between_devices, testing::Values(path::direct, path::staged),
                         [](const auto& i) { return i.param == path::direct ? "direct" : "staged"; });

TEST_P(copies_between_devices, bring_every_byte_whatever_the_size) {
  const device here = open(), there = open();
  std::uint64_t bytes = 0, copies = 0;
  for (const std::size_t n : {1, 1000, 16 << 10, (64 << 10) + 3, 5 << 20}) {
    const auto from = there.alloc<float>(n), to = here.alloc<float>(n);
    there.upload(from, counting(n));
    ASSERT_OK(here.copy_from(there, to, from).get());
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
  EXPECT_EQ(here.statistics().memory.imported_bytes, 0u) << "that is what the user has imported";
}

TEST_P(copies_between_devices, take_and_fill_parts_of_buffers) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(100), to = here.alloc<float>(50, {.zeroed = true});
  there.upload(from, counting(100));
  ASSERT_OK(here.copy_from(there, to.slice(20), from.slice(40, 10)).get());
  auto expected = std::vector<float>(50, 0.f);
  std::iota(expected.begin() + 20, expected.begin() + 30, 40.f);
  EXPECT_EQ(here.download(to).get().value(), expected);
}

TEST_P(copies_between_devices, work_with_workers_that_are_threads) {
  const device here = open({.isolation = isolation::thread}), there = open({.isolation = isolation::thread});
  const auto from = there.alloc<float>(300000), to = here.alloc<float>(300000);
  there.upload(from, counting(300000));
  here.copy_from(there, to, from);
  EXPECT_EQ(here.download(to).get().value(), counting(300000));
}

TEST_P(copies_between_devices, that_are_one_device_are_ordinary_copies) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(10), y = gpu.alloc<float>(10);
  gpu.upload(x, counting(10));
  ASSERT_OK(gpu.copy_from(gpu, y, x).get());
  EXPECT_EQ(gpu.download(y).get().value(), counting(10));
  EXPECT_TRUE(gpu.statistics().peers.empty());
}

TEST_P(copies_between_devices, have_their_place_in_the_order_of_the_source) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  blockade first(there);
  begin_to_use(first);
  there.tell(increment{.x = from, .n = 10});  // behind the blockade
  auto copied = here.copy_from(there, to, from);
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

TEST_P(copies_between_devices, have_their_place_in_the_order_of_the_target) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  const auto before = here.alloc<float>(10);
  blockade first(here);
  begin_to_use(first);
  here.tell(increment{.x = to, .n = 10});
  here.copy(before, to);
  auto copied = here.copy_from(there, to, from);
  auto overwritten = there.fill(from, 7.f);  // not before it has been copied
  here.tell(increment{.x = to, .n = 10});
  EXPECT_FALSE(copied.ready());
  first.lift();
  EXPECT_OK(overwritten.get());
  EXPECT_EQ(here.download(before).get().value(), std::vector<float>(10, 1.f));
  EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 1.f));
}

TEST_P(copies_between_devices, go_both_ways_at_once_from_many_threads) {
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
          there.copy_from(here, y, x);
          there.tell(increment{.x = y, .n = static_cast<std::int64_t>(n)});
          here.fill(x, -1.f);
          here.copy_from(there, x, y);
          there.fill(y, -1.f);
        }
        const auto got = here.download(x).get();
        ASSERT_OK(got);
        EXPECT_EQ(*got, counting(n, 50));
      });
    for (std::thread& t : all) t.join();
  }
}

TEST_P(copies_between_devices, wait_for_room_in_both_mailboxes_without_waiting_for_each_other) {
  const device_options small{.mailbox_capacity = 1, .when_full = when_full::wait};
  const device one = open(small), two = open(small);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      const device &here = t % 2 == 0 ? one : two, &there = t % 2 == 0 ? two : one;
      const auto x = here.alloc<float>(100), y = there.alloc<float>(100);
      EXPECT_OK(here.upload(x, counting(100)).get());
      for (int i = 0; i < 50; ++i) there.copy_from(here, y, x);
      EXPECT_EQ(there.download(y).get().value(), counting(100));
    });
  for (std::thread& t : all) t.join();
}

TEST_P(copies_between_devices, that_find_a_mailbox_full_are_refused_and_leave_no_half_behind) {
  const device here = open({.mailbox_capacity = 2, .when_full = when_full::refuse, .inline_bytes = 0}), there = open();
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10);
  blockade b(here);
  begin_to_use(b);
  auto second = here.sync();
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, to, from)), reaction::retry_later, {"mailbox", "full"}));
  EXPECT_OK(there.fill(from, 1.f).get());  // nobody holds it
  EXPECT_TRUE(is_error(*to.cause(), reaction::retry_later, {"full"}));
  b.lift();
  EXPECT_OK(second.get());
  EXPECT_OK(here.copy_from(there, to, from).get());
}

TEST_P(copies_between_devices, fail_with_the_cause_when_the_source_is_stale) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10, {.zeroed = true});
  ASSERT_FALSE(there.ask(spoil{.target = from, .n = 10, .text = "oh"}).get());
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, to, from)), reaction::unsupported, {"oh", "testing.spoil"}));
  EXPECT_TRUE(is_error(*to.cause(), reaction::unsupported, {"oh"}));
  EXPECT_TRUE(is_error(error_of(here.download(to)), reaction::unsupported, {"oh"}));
}

TEST_P(copies_between_devices, fail_with_the_cause_when_the_source_becomes_stale_on_the_way) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10, {.zeroed = true});
  blockade b(there);
  begin_to_use(b);
  there.tell(spoil{.target = from, .n = 10, .text = "oh"});
  auto copied = here.copy_from(there, to, from);
  auto read = here.download(to);
  b.lift();
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::unsupported, {"oh", "testing.spoil"}));
  EXPECT_TRUE(is_error(error_of(std::move(read)), reaction::unsupported, {"oh"}));
  EXPECT_FALSE(to.valid());
  EXPECT_EQ(here.statistics().faults, 0u);
}

TEST_P(copies_between_devices, fail_when_the_source_dies_and_the_target_goes_on) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  ASSERT_OK(there.sync().get());  // what has not begun is done by the next worker, and then nothing is lost
  blockade b(there);
  begin_to_use(b);
  there.tell(increment{.x = from, .n = 10});
  auto copied = here.copy_from(there, to, from);
  auto read = here.download(to);
  kill_and_wait(there);
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::context_lost, {"SIGKILL", there.name().c_str()}));
  EXPECT_TRUE(is_error(error_of(std::move(read)), reaction::context_lost, {"SIGKILL", there.name().c_str()}));
  EXPECT_TRUE(is_error(*to.cause(), reaction::context_lost, {there.name().c_str()}));
  EXPECT_EQ(here.statistics().faults, 0u);
  there.upload(from, counting(10));
  here.copy_from(there, to, from);
  EXPECT_EQ(here.download(to).get().value(), counting(10));
}

TEST_P(copies_between_devices, fail_when_the_source_dies_while_the_target_is_busy) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  ASSERT_OK(there.sync().get());
  blockade b(here);
  begin_to_use(b);
  here.tell(increment{.x = to, .n = 10});
  auto copied = here.copy_from(there, to, from);
  EXPECT_OK(there.ping().get());
  kill_and_wait(there);
  there.fill(from, 9.f);  // by the next worker, while the copy is yet to begin
  b.lift();
  const auto got = copied.get();
  if (got) {  // the source's half had ended before it died: what it has sent is there
    EXPECT_EQ(GetParam(), path::staged);
    EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 0.f));
  } else {
    EXPECT_TRUE(is_error(got.error(), reaction::context_lost, {"SIGKILL", there.name().c_str()}));
    EXPECT_FALSE(to.valid());
  }
  EXPECT_EQ(here.statistics().faults, 0u);
}

// Until it dies after its half has begun: before that, the half is kept for the next worker.
TEST_P(copies_between_devices, fail_when_the_target_dies_and_the_source_goes_on) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10, {.zeroed = true});
  bool lost = false;
  for (int i = 0; i < 50 && !lost; ++i) {
    there.fill(from, 1.f);
    ASSERT_OK(here.sync().get());
    blockade b(there);
    begin_to_use(b);
    there.tell(increment{.x = from, .n = 10});
    auto copied = here.copy_from(there, to, from);
    EXPECT_OK(here.ping().get());
    kill_and_wait(here);
    auto after = there.fill(from, 3.f);
    b.lift();
    const auto got = copied.get();
    if (!got) {
      lost = true;
      EXPECT_TRUE(is_error(got.error(), reaction::context_lost, {"SIGKILL", here.name().c_str()}));
      EXPECT_FALSE(to.valid());
    } else {
      EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 2.f));
    }
    EXPECT_OK(after.get());
  }
  EXPECT_TRUE(lost);
  EXPECT_EQ(there.statistics().faults, 0u);
  here.copy_from(there, to, from);
  EXPECT_EQ(here.download(to).get().value(), std::vector<float>(10, 3.f));
}

TEST_P(copies_between_devices, that_have_not_begun_at_a_target_that_dies_are_kept_for_its_next_worker) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10), to = here.alloc<float>(10);
  there.upload(from, counting(10));
  ASSERT_OK(there.sync().get());
  blockade b(here);
  begin_to_use(b);
  const buffer<float> gate(buffer<std::uint32_t>(b.gate().memory()).as<float>());
  auto copied = here.copy_from(there, gate, from.slice(0, 2));  // over what the blockade has
  auto after = there.fill(from, 3.f);
  kill_worker(here);
  EXPECT_OK(copied.get());
  EXPECT_OK(after.get());
  EXPECT_EQ(here.download(gate).get().value(), counting(2));
}

TEST_P(copies_between_devices, of_what_is_sealed_are_kept_when_the_source_dies) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.sealable = true}), to = here.alloc<float>(10, {.zeroed = true});
  there.upload(from, counting(10));
  ASSERT_OK(there.seal(from).get());
  ASSERT_OK(here.copy_from(there, to, from).get());
  here.fill(to, 0.f);
  kill_and_wait(there);
  ASSERT_OK(here.copy_from(there, to, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(10));
}

TEST_P(copies_between_devices, go_on_after_a_restart_of_either) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(100000), to = here.alloc<float>(100000);
  for (int i = 0; i < 3; ++i) {
    there.upload(from, counting(100000, static_cast<float>(i)));
    ASSERT_OK(here.copy_from(there, to, from).get());
    EXPECT_EQ(here.download(to).get().value(), counting(100000, static_cast<float>(i)));
    kill_and_wait(i == 0 ? here : there);
  }
}

TEST_P(copies_between_devices, are_answered_once_each_when_workers_die_among_them) {
  const device one = open(), two = open();
  const auto x = one.alloc<float>(200000, {.zeroed = true}), y = two.alloc<float>(200000, {.zeroed = true});
  tally answers;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 20; ++i) {
      one.fill(x, 1.f);
      answers.watch(two.copy_from(one, y, x));
      two.fill(y, 2.f);
      answers.watch(one.copy_from(two, x, y));
    }
    kill_and_wait(round % 2 == 0 ? one : two);
  }
  answers.await_all();
  EXPECT_EQ(answers.answered(), 160);
  one.fill(x, 5.f);
  two.copy_from(one, y, x);
  EXPECT_EQ(two.download(y).get().value(), std::vector<float>(200000, 5.f));
}

TEST_P(copies_between_devices, that_are_cancelled_hold_up_neither_device) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  blockade b(there);
  begin_to_use(b);
  there.tell(increment{.x = from, .n = 10});
  auto copied = here.copy_from(there, to, from);
  copied.cancel();
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::retry_later, {"cancelled"}));
  EXPECT_FALSE(to.valid());
  EXPECT_OK(here.fill(to, 1.f).get());
  b.lift();
  EXPECT_OK(there.fill(from, 1.f).get());
}

TEST_P(copies_between_devices, that_cannot_start_in_time_are_answered_so) {
  const device here = open({.inline_bytes = 0}), there = open({.inline_bytes = 0});
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  blockade b(there);
  begin_to_use(b);
  there.tell(increment{.x = from, .n = 10});
  EXPECT_TRUE(
      is_error(error_of(here.copy_from(there, to, from, {.timeout = 20ms})), reaction::retry_later, {"time-out"}));
  EXPECT_OK(here.fill(to, 1.f).get());
  b.lift();
}

TEST_P(copies_between_devices, do_not_count_as_running_while_they_wait_for_the_other_device) {
  const auto limited_waits_for_busy = [&](bool limited_is_target) {
    const device limited = open({.inline_bytes = 0, .run_timeout = 100ms}), busy = open({.inline_bytes = 0});
    const device &here = limited_is_target ? limited : busy, &there = limited_is_target ? busy : limited;
    const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
    blockade b(busy);
    begin_to_use(b);
    busy.tell(increment{.x = limited_is_target ? from : to, .n = 10});
    auto copied = here.copy_from(there, to, from);
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
    begin_to_use(b);
    there.tell(increment{.x = from, .n = 10});
    auto copied = here.copy_from(there, to, from);
    auto closed = (source_closes ? there : here).close_now();
    if (source_closes) {
      EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::stopped, {"closed"}));
      b.lift();
      EXPECT_OK(closed.get());
      EXPECT_OK(here.fill(to, 1.f).get());
      EXPECT_TRUE(is_error(error_of(here.copy_from(there, to, from)), reaction::stopped, {"closed"}));
    } else {
      b.lift();
      (void)copied.get();
      EXPECT_OK(there.fill(from, 1.f).get());
      EXPECT_OK(closed.get());
      EXPECT_FALSE(here.copy_from(there, to, from).get());
      EXPECT_OK(there.fill(from, 1.f).get());
    }
  }
}

TEST_P(copies_between_devices, are_refused_with_the_reason_and_leave_the_target_stale_with_it) {
  const device here = open(), there = open();
  const auto from = there.alloc<float>(10, {.zeroed = true}), to = here.alloc<float>(10, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, to, from, {.retries = 1})), reaction::unsupported,
                       {"retries", "copy again"}));
  EXPECT_FALSE(to.valid());
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, to.slice(0, 9), from)), reaction::caller_bug,
                       {"target", "holds 36 bytes", "at least 40"}));
  const auto theirs = there.alloc<float>(10);
  EXPECT_TRUE(
      is_error(error_of(here.copy_from(there, theirs, from)), reaction::caller_bug, {"target", "another device"}));
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, to, to)), reaction::caller_bug, {"another device"}));
  EXPECT_TRUE(
      is_error(error_of(here.copy_from(there, to, buffer<float>())), reaction::caller_bug, {"source", "empty"}));
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, to, there.alloc<float>(-1))), reaction::caller_bug, {"alloc"}));
  const auto sealed = here.alloc<float>(10, {.zeroed = true, .sealable = true});
  ASSERT_OK(here.seal(sealed).get());
  EXPECT_TRUE(is_error(error_of(here.copy_from(there, sealed, from)), reaction::caller_bug, {"sealed"}));
  EXPECT_TRUE(sealed.valid());
  EXPECT_OK(here.copy_from(there, to, from).get());
  EXPECT_OK(there.fill(from, 1.f).get());
}

// A device whose worker is a thread shares its addresses with the whole program, and has few.
TEST_P(copies_between_devices, need_no_addresses_for_all_of_the_sources_memory) {
  constexpr std::uint64_t bytes = std::uint64_t{100} << 30;
  const device here = open({.isolation = isolation::thread, .memory_limit = 64 << 20}),
               there = open({.memory_limit = bytes});
  const auto from = there.import_memory<float>({.descriptor = memory_of_others(bytes),
                                                .offset_bytes = bytes - 4000,
                                                .bytes = 4000,
                                                .allocation_bytes = bytes}),
             near = there.alloc<float>(1000), to = here.alloc<float>(1000);
  ASSERT_TRUE(from.valid()) << from.cause()->to_string();
  there.upload(from, counting(1000));
  ASSERT_OK(here.copy_from(there, to, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(1000));
  EXPECT_EQ(seen(here, there).seen_bytes, 0u);
  there.upload(near, counting(1000, 5));
  ASSERT_OK(here.copy_from(there, to, near).get());
  EXPECT_EQ(here.download(to).get().value(), counting(1000, 5));
  EXPECT_EQ(seen(here, there).direct, GetParam() == path::direct) << "what there are addresses for is read as ever";
}

TEST_P(copies_between_devices, let_the_source_give_its_memory_back) {
  const device here = open(), there = open();
  auto from = there.alloc<float>(10, {.zeroed = true});
  const auto to = here.alloc<float>(10);
  ASSERT_OK(here.copy_from(there, to, from).get());
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
  ASSERT_OK(here.copy_from(there, to, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(10));
}

TEST_P(copies_between_devices, outlive_the_handles_of_the_devices_and_of_the_buffers) {
  pending<std::vector<float>> answer;
  {
    const device here = open(), there = open();
    const auto from = there.alloc<float>(100000), to = here.alloc<float>(100000);
    there.upload(from, counting(100000));
    here.copy_from(there, to, from);
    answer = here.download(to);
  }
  EXPECT_EQ(answer.get().value(), counting(100000));
}

TEST(staged_copies_between_devices, are_refused_for_now_when_too_many_are_under_way) {
  runtime rt;
  const device here = rt.open_device(with_test_engines({.inline_bytes = 0})),
               there = rt.open_device(with_test_engines({.peer_access = false, .inline_bytes = 0}));
  const std::size_t n = 2 << 20;
  const auto from = there.alloc<float>(n, {.zeroed = true}), to = here.alloc<float>(n);
  blockade b(there);
  ASSERT_TRUE(b.entered());
  there.tell(increment{.x = from, .n = n});
  std::vector<pending<void>> all;
  for (int i = 0; i < 100; ++i) all.push_back(here.copy_from(there, to, from));
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
  EXPECT_OK(here.copy_from(there, to, from).get());
}

TEST(staged_copies_between_devices, take_what_was_adopted_too) {
  runtime rt;
  const device here = rt.open_device(with_test_engines()),
               there = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  static std::vector<float> theirs = counting(1000);  // not freed: see sanitizer.cpp
  const auto from = there.adopt_memory(theirs.data(), 1000, std::make_shared<int>());
  const auto to = here.alloc<float>(1000);
  ASSERT_OK(here.copy_from(there, to, from).get());
  EXPECT_EQ(here.download(to).get().value(), counting(1000));
}

TEST(peers, see_each_other_in_the_memory_of_the_host) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), two = rt.open_device(with_test_engines()),
               apart = rt.open_device(with_test_engines({.peer_access = false}));
  const auto seen = one.peer(two);
  ASSERT_OK(seen);
  EXPECT_TRUE(seen->access);
  EXPECT_TRUE(seen->native_atomics);
  EXPECT_EQ(seen->link, peer_link::memory);
  EXPECT_EQ(to_string(seen->link), "memory");
  EXPECT_FALSE(one.peer(apart)->access);
  EXPECT_FALSE(apart.peer(one)->access);
  const device all[] = {one, apart, two};
  const auto groups = islands(all);
  ASSERT_OK(groups);
  EXPECT_EQ(*groups, (std::vector<std::vector<device>>{{one, two}, {apart}}));
  EXPECT_TRUE(islands({})->empty());
}

TEST(peers, that_are_enabled_are_seen_before_the_first_copy) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), two = rt.open_device(with_test_engines()),
               apart = rt.open_device(with_test_engines({.peer_access = false}));
  const auto x = two.alloc<float>(10, {.zeroed = true});
  ASSERT_OK(one.enable_peer(two));
  ASSERT_EQ(one.statistics().peers.size(), 1u);
  EXPECT_EQ(one.statistics().peers[0].seen_bytes, two.statistics().memory.reserved_bytes);
  EXPECT_EQ(one.statistics().peers[0].copies, 0u);
  EXPECT_OK(one.enable_peer(one));
  EXPECT_TRUE(is_error(error_of(one.enable_peer(apart)), reaction::unsupported, {"no access", "copy_from"}));
}

}  // namespace
}  // namespace troupe::whole
