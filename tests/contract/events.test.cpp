// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Points in what a device does, and the time between them.
#include <barrier>
#include <thread>
#include <troupe/events/event.hpp>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

TEST(events, tell_how_long_what_lies_between_them_took) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const events::event before(gpu), after(gpu);
  before.record();
  (void)gpu.ask(nap{.microseconds = 20'000});
  after.record();
  const auto took = elapsed(before, after).get();
  ASSERT_OK(took);
  EXPECT_GE(*took, 20ms);
  EXPECT_LT(*took, 20s);
  EXPECT_EQ(elapsed(after, before).get().value(), -*took);
}

TEST(events, are_recorded_behind_who_wrote_the_buffers_and_before_who_writes_them_next) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  const auto x = gpu.alloc<float>(1, {.zeroed = true}), y = gpu.alloc<float>(1, {.zeroed = true});
  pending<void> slow = gpu.ask(hold_slowly{.gate = gate, .result = x});
  const events::event of_x(gpu), of_y(gpu);
  pending<void> recorded = of_x.record(x);
  EXPECT_OK(of_y.record(y).get());
  EXPECT_FALSE(recorded.ready());
  EXPECT_FALSE(of_x.query());
  EXPECT_TRUE(of_y.query());
  std::atomic_ref(gate.data()[open]).store(1);
  EXPECT_OK(recorded.get());
  EXPECT_TRUE(of_x.query());
  EXPECT_OK(slow.get());
}

TEST(events, are_reached_when_everything_before_is_done) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  const events::event e(gpu);
  (void)e.record();
  pending<void> reached = e.reached();
  EXPECT_FALSE(reached.ready());
  EXPECT_FALSE(e.query());
  first.lift();
  EXPECT_OK(reached.get());
  EXPECT_TRUE(e.query());
}

TEST(events, that_are_recorded_again_wait_again) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  const events::event e(gpu);
  EXPECT_FALSE(e.query());
  EXPECT_OK(e.record().get());
  EXPECT_TRUE(e.query());
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  pending<void> again = e.record();
  EXPECT_FALSE(e.query());
  first.lift();
  EXPECT_OK(again.get());
  EXPECT_TRUE(e.query());
}

TEST(events, that_two_threads_record_at_once_are_reached_for_both) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const events::event e(gpu);
  for (int round = 0; round < 200; ++round) {
    std::barrier both(2);
    const auto record = [&] {
      both.arrive_and_wait();
      EXPECT_OK(e.record().get());
    };
    std::thread other(record);
    record();
    other.join();
    ASSERT_TRUE(e.query()) << "round " << round;
  }
}

TEST(events, whose_last_recording_was_refused_are_as_recorded_before) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 2}));
  const events::event e(gpu);
  ASSERT_OK(e.record().get());
  blockade first(gpu), second(gpu);
  EXPECT_EQ(error_of(e.record()).reaction(), reaction::retry_later);
  EXPECT_TRUE(e.query());
  first.lift();
  second.lift();
  EXPECT_OK(first.answer().get());
  EXPECT_OK(second.answer().get());
  EXPECT_OK(e.record().get());
  EXPECT_TRUE(e.query());
}

TEST(events, that_were_never_recorded_are_refused) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const events::event never(gpu), once(gpu);
  ASSERT_OK(once.record().get());
  EXPECT_TRUE(is_error(error_of(never.reached()), reaction::caller_bug, {"events.reach", "never recorded"}));
  EXPECT_TRUE(is_error(error_of(elapsed(once, never)), reaction::caller_bug, {"to was never recorded"}));
  EXPECT_TRUE(is_error(error_of(elapsed(never, once)), reaction::caller_bug, {"from was never recorded"}));
}

TEST(events, hold_back_whoever_uses_a_buffer_later) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  const auto x = gpu.alloc<float>(1, {.zeroed = true});
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  const events::event e(gpu);
  (void)e.record();
  (void)e.hold_back(x);
  pending<std::vector<float>> content = gpu.download(x);
  EXPECT_OK(gpu.ping(1).get());
  EXPECT_FALSE(content.ready());
  first.lift();
  EXPECT_OK(content.get());
}

TEST(events, say_why_other_processes_cannot_have_them_on_the_host_engine) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const events::event e(gpu, {.inter_process = true});
  EXPECT_TRUE(is_error(error_of(e.record()), reaction::unsupported, {"events.record_all", "export_memory", "GPU"}));
  const events::event plain(gpu);
  ASSERT_OK(plain.record().get());
  EXPECT_TRUE(is_error(error_of(plain.handle()), reaction::unsupported, {"events.share"}));
  EXPECT_TRUE(is_error(error_of(events::event::open(gpu, {}).reached()), reaction::unsupported, {"events.open"}));
}

TEST(events, of_before_a_restart_are_stale_and_can_be_recorded_anew) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 2, .salvage = salvage::untouched}));
  const events::event e(gpu);
  ASSERT_OK(e.record().get());
  kill_worker(gpu);
  while (gpu.statistics().generation == 1) std::this_thread::yield();
  EXPECT_EQ(error_of(e.reached()).reaction(), reaction::context_lost);
  EXPECT_OK(e.record().get());
  EXPECT_OK(e.reached().get());
}

}  // namespace
}  // namespace troupe::whole
