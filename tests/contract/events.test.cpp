// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of points in the work of a device, and of the time between them.
#include <barrier>
#include <optional>
#include <thread>
#include <troupe/events/events.hpp>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

TEST(events, measure_the_time_between_them) {
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

TEST(events, are_ordered_between_writers_of_their_buffers) {
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
  std::atomic_ref(gate.data()[opened]).store(1);
  EXPECT_OK(recorded.get());
  EXPECT_TRUE(of_x.query());
  EXPECT_OK(slow.get());
}

TEST(events, are_reached_when_all_earlier_requests_are_done) {
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

TEST(events, wait_again_after_being_recorded_again) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  const events::event e(gpu);
  EXPECT_FALSE(e.query());
  EXPECT_FALSE(e.enqueued());
  EXPECT_OK(e.record().get());
  EXPECT_TRUE(e.query());
  EXPECT_TRUE(e.enqueued());
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  pending<void> again = e.record();
  EXPECT_FALSE(e.query());
  EXPECT_FALSE(e.enqueued()) << "the earlier recording does not count";
  first.lift();
  EXPECT_OK(again.get());
  EXPECT_TRUE(e.query());
  EXPECT_TRUE(e.enqueued());
}

TEST(events, are_reached_for_both_of_two_threads_that_record_them) {
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

TEST(events, keep_their_recording_if_recording_them_again_is_refused) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 2, .when_full = when_full::refuse}));
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

TEST(events, are_refused_if_never_recorded) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const events::event never(gpu), once(gpu);
  ASSERT_OK(once.record().get());
  EXPECT_TRUE(is_error(error_of(never.reached()), reaction::caller_bug, {"events.reach", "never recorded"}));
  EXPECT_TRUE(is_error(error_of(elapsed(once, never)), reaction::caller_bug, {"to was never recorded"}));
  EXPECT_TRUE(is_error(error_of(elapsed(never, once)), reaction::caller_bug, {"from was never recorded"}));
}

TEST(events, are_not_confused_with_later_events_in_the_same_memory) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 2, .when_full = when_full::refuse}));
  std::optional<events::event> before(gpu);
  ASSERT_OK(before->record().get());
  blockade first(gpu), second(gpu);
  before.reset();
  EXPECT_EQ(error_of(gpu.ping(1)).reaction(), reaction::retry_later) << "the mailbox should be full";
  first.lift();
  second.lift();
  EXPECT_OK(first.answer().get());
  EXPECT_OK(second.answer().get());
  for (int i = 0; i < 10; ++i) {
    const events::event next(gpu);
    EXPECT_FALSE(next.query());
    EXPECT_TRUE(is_error(error_of(next.reached()), reaction::caller_bug, {"never recorded"})) << i;
  }
}

TEST(events, hold_back_later_uses_of_a_buffer) {
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

TEST(events, explain_why_the_host_engine_cannot_share_them) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const events::event e(gpu, {.inter_process = true});
  EXPECT_TRUE(is_error(error_of(e.record()), reaction::unsupported, {"events.record_all", "export_memory", "GPU"}));
  const error not_shared = error_of(e.handle());
  EXPECT_TRUE(is_error(not_shared, reaction::unsupported, {"events.share"}));
  EXPECT_EQ(not_shared.to_string().find("events.record_all"), std::string::npos)
      << "a recording that failed has no effect on this: " << not_shared.to_string();
  const events::event plain(gpu);
  ASSERT_OK(plain.record().get());
  EXPECT_TRUE(is_error(error_of(plain.handle()), reaction::unsupported, {"events.share"}));
  const events::event theirs = events::event::open(gpu, {});
  EXPECT_TRUE(is_error(error_of(theirs.reached()), reaction::unsupported, {"events.open"}));
  EXPECT_TRUE(is_error(error_of(theirs.record()), reaction::unsupported, {"events.open"}));
}

TEST(events, cannot_be_recorded_before_they_are_opened_if_another_process_made_them) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 2, .when_full = when_full::refuse}));
  blockade first(gpu), second(gpu);
  const events::event theirs = events::event::open(gpu, {});
  first.lift();
  second.lift();
  EXPECT_OK(first.answer().get());
  EXPECT_OK(second.answer().get());
  const auto x = gpu.alloc<float>(1, {.zeroed = true});
  for (int i = 0; i < 2; ++i) {  // a refused request opens nothing
    EXPECT_TRUE(
        is_error(error_of(theirs.record()), reaction::retry_later, {"events.open", "mailbox", "open it again"}));
    EXPECT_TRUE(is_error(error_of(theirs.record(x)), reaction::retry_later, {"events.open", "open it again"}));
    EXPECT_FALSE(theirs.query());
    EXPECT_FALSE(theirs.enqueued());
  }
  EXPECT_TRUE(is_error(error_of(theirs.reached()), reaction::retry_later, {"events.open", "open it again"}));
}

TEST(events, return_the_handle_that_opened_them_if_another_process_made_them) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  events::event_handle handle{};
  handle[5] = std::byte{7};
  const auto given = events::event::open(gpu, handle).handle().get();
  ASSERT_OK(given);
  EXPECT_EQ(*given, handle);
}

TEST(events, are_stale_after_a_restart_and_can_be_recorded_again) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 2, .salvage = salvage::untouched}));
  const events::event e(gpu);
  ASSERT_OK(e.record().get());
  kill_and_wait(gpu);
  EXPECT_EQ(error_of(e.reached()).reaction(), reaction::context_lost);
  EXPECT_OK(e.record().get());
  EXPECT_OK(e.reached().get());
}

}  // namespace
}  // namespace troupe::whole
