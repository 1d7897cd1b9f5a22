// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <troupe/worker/schedule/lanes.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>
#include <troupe/worker/testing/one_operation.hpp>
#include <troupe/worker/testing/recording_device.hpp>

namespace troupe {
namespace {

using testing_worker::recording_device;
using namespace std::chrono_literals;

constexpr std::uint32_t capacity = 1024, lane = 2, other = 3, third = 4, first_helper = 14;

bool lose_the_context(void*, const void*, const troupe_engine_call*, troupe_engine_failure* failure) {
  failure->reaction = static_cast<std::uint8_t>(reaction::context_lost);
  failure->code = 700;
  std::strcpy(failure->domain, "cuda");
  std::strcpy(failure->text, "cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS");
  return false;
}

bool enqueue(void* device, const void*, const troupe_engine_call* c, troupe_engine_failure*) {
  static_cast<recording_device*>(device)->run(c->stream);
  return true;
}

bool do_nothing(void*, const void*, const troupe_engine_call*, troupe_engine_failure*) { return true; }

// Runs when the test lets it.
std::atomic<bool> held{false}, let_go{false};
bool hold(void* device, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
  held = true;
  while (!let_go) std::this_thread::yield();
  return enqueue(device, payload, c, failure);
}

class lanes_of_a_device : public testing::Test {
 protected:
  using run_fn = decltype(troupe_engine_operation::run);

  lanes_of_a_device() {
    EXPECT_TRUE(lanes_.make_streams(chooser_));
    lanes_.when_context_lost([this](const failure& why) { lost_.push_back(why); });
  }
  ~lanes_of_a_device() override {
    lanes_.mark_all();
    device_.finish();
  }
  operation& issued(std::uint32_t on, const wait_list& waits = {}, run_fn run = &enqueue) {
    operation& op = operations_[ticket_];
    op.slot = static_cast<std::uint32_t>(ticket_);
    op.ticket = ++ticket_;
    op.what = std::find_if(whats_.begin(), whats_.end(), [run](const auto& w) { return w.run == run; });
    op.engine = &device_;
    op.waits = waits;
    lanes_.will_wait_for(waits);
    lanes_.issue(op, on);
    return op;
  }
  void run(std::uint32_t on) { lanes_.run_here(issued(on)); }
  void lose(std::uint32_t on) { lanes_.run_here(issued(on, {}, &lose_the_context)); }
  // What follows is for later: the device may be asked about it by now.
  bool begins(std::uint32_t on, const std::string& expected) { return device_.enqueued(on).starts_with(expected); }
  bool becomes(std::uint32_t on, const std::string& expected) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (device_.enqueued(on) != expected && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    return device_.enqueued(on) == expected;
  }
  static wait_list behind(position p) {
    wait_list out;
    out.add(p);
    return out;
  }
  // Whom the only loss of the context is put down to; 0: to nobody.
  std::uint64_t blamed() const {
    EXPECT_EQ(lost_.size(), 1u);
    EXPECT_EQ(lost_.at(0).code, 700);
    return lost_.at(0).first.ticket;
  }

  testing_worker::channel_in_memory channel_{capacity};
  ring_region report_memory_ = channel_.reports();
  ring_writer report_ring_{report_memory_};
  ring_reader reports_seen_{report_memory_};
  reporter reports_{channel_.view(), report_ring_};
  failure_log failures_;
  recording_device device_;
  lane_chooser chooser_{lane_policy::per_actor, 4, 2};
  const std::array<troupe_engine_operation, 4> whats_{
      testing_worker::operation_that(&enqueue), testing_worker::operation_that(&lose_the_context),
      testing_worker::operation_that(&hold), testing_worker::operation_that(&do_nothing)};
  std::unique_ptr<operation[]> operations_ = std::make_unique<operation[]>(capacity);
  std::vector<failure> lost_;
  std::uint64_t ticket_ = 0;
  lane_set lanes_{channel_.view(), operations_.get(), reports_, failures_, wait_policy::latency, true, &device_};
};

// Else what waits for the first of many long operations would wait for all that were enqueued behind it.
TEST_F(lanes_of_a_device, what_another_lane_waits_for_is_said_to_be_done_right_behind_it) {
  run(lane);
  operation& later = issued(other, behind({lane, 1}));
  run(lane);
  run(lane);
  lanes_.run_here(later);
  EXPECT_TRUE(begins(lane, " runs says 1 runs runs")) << device_.enqueued(lane);
  EXPECT_TRUE(begins(other, " waits for 1 runs")) << device_.enqueued(other);
}

TEST_F(lanes_of_a_device, and_so_it_is_when_it_was_still_to_be_run_as_the_other_was_sent) {
  operation &first = issued(lane), &second = issued(lane);
  operation& later = issued(other, behind({lane, 1}));
  lanes_.run_here(first);
  lanes_.run_here(second);
  lanes_.run_here(later);
  EXPECT_TRUE(begins(lane, " runs says 1 runs")) << device_.enqueued(lane);
  EXPECT_TRUE(begins(other, " waits for 1 runs")) << device_.enqueued(other);
}

// Else its answer would come with what waits, and never when that one waits for somebody who waits for the answer.
TEST_F(lanes_of_a_device, what_a_lane_has_done_is_said_before_it_waits_for_another) {
  run(lane);
  run(other);
  lanes_.run_here(issued(other, behind({lane, 1})));
  EXPECT_TRUE(begins(other, " runs says 1 waits for 1 runs")) << device_.enqueued(other);
}

TEST_F(lanes_of_a_device, what_nobody_waits_for_is_said_soon_also_where_nothing_follows) {
  run(other);
  for (std::uint32_t i = 0; i < 32; ++i) run(lane);  // of which the device has done nothing
  EXPECT_TRUE(becomes(other, " runs says 1")) << device_.enqueued(other);
}

TEST_F(lanes_of_a_device, nothing_is_said_of_what_nobody_waits_for_until_there_is_much_of_it) {
  for (std::uint32_t i = 0; i < 40; ++i) run(lane);
  std::string expected;
  for (int i = 1; i <= 40; ++i) expected += i == 32 ? " runs says 32" : " runs";
  EXPECT_TRUE(begins(lane, expected)) << device_.enqueued(lane);
}

TEST_F(lanes_of_a_device, what_is_left_to_the_thread_of_a_lane_is_marked_by_it_and_not_meanwhile) {
  held = let_go = false;
  run(lane);
  operation& op = issued(lane, {}, &hold);
  op.only_enqueues = true;
  lanes_.queue(op);
  while (!held) std::this_thread::yield();
  lanes_.mark_all();
  EXPECT_EQ(device_.enqueued(lane), " runs");
  let_go = true;
  EXPECT_TRUE(becomes(lane, " runs runs says 2")) << device_.enqueued(lane);
}

// Else the answer to what is done would come when something else is.
TEST_F(lanes_of_a_device, a_thread_marks_what_it_has_run_before_something_that_may_take_long) {
  held = let_go = false;
  run(lane);
  lanes_.queue(issued(lane, {}, &hold));
  while (!held) std::this_thread::yield();
  EXPECT_EQ(device_.enqueued(lane), " runs says 1");
  let_go = true;
  EXPECT_TRUE(becomes(lane, " runs says 1 runs says 2")) << device_.enqueued(lane);
}

TEST_F(lanes_of_a_device, a_thread_marks_what_it_has_run_before_it_waits_for_what_the_host_does) {
  run(lane);
  operation& slow = issued(first_helper, {}, &do_nothing);
  operation& op = issued(lane, behind({first_helper, 1}));
  op.only_enqueues = true;
  lanes_.queue(op);
  EXPECT_TRUE(becomes(lane, " runs says 1")) << device_.enqueued(lane);
  lanes_.run_here(slow);
  EXPECT_TRUE(becomes(lane, " runs says 1 runs says 2")) << device_.enqueued(lane);
}

TEST_F(lanes_of_a_device, who_waits_for_the_device_goes_on_when_it_is_so_far_and_not_before) {
  run(lane);
  lanes_.mark_all();
  run(lane);
  std::atomic<bool> back = false;
  std::thread waits([&] {
    lanes_.drain();
    back = true;
  });
  EXPECT_TRUE(becomes(lane, " runs says 1 runs says 2")) << device_.enqueued(lane);
  std::this_thread::sleep_for(40ms);  // asleep by now
  device_.finish(1);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(back);
  device_.finish();
  waits.join();
}

TEST_F(lanes_of_a_device, each_who_waits_for_it_goes_on_at_his_own_time) {
  for (int i = 0; i < 3; ++i) {
    run(lane);
    lanes_.mark_all();
  }
  std::array<std::atomic<bool>, 2> back{};
  std::vector<std::thread> waiting;
  const auto wait_for = [&](std::size_t which, std::uint64_t sequence) {
    operation& op = issued(first_helper + static_cast<std::uint32_t>(which), behind({lane, sequence}), &do_nothing);
    waiting.emplace_back([this, &op, &back, which] {
      lanes_.run_here(op);
      back[which] = true;
    });
    std::this_thread::sleep_for(30ms);  // asleep by now
  };
  wait_for(0, 3);
  wait_for(1, 2);
  device_.finish(1);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(back[0] || back[1]);
  device_.finish(2);
  waiting[1].join();
  EXPECT_FALSE(back[0]);
  device_.finish(3);
  waiting[0].join();
}

TEST_F(lanes_of_a_device, a_call_that_is_answered_with_a_fault_of_before_is_not_blamed_for_it) {
  run(lane);
  lose(lane);
  EXPECT_EQ(blamed(), 1u) << "the only one that is not known to be done";
}

TEST_F(lanes_of_a_device, nobody_is_blamed_for_a_fault_where_several_of_a_lane_may_have_made_it) {
  run(lane);
  run(lane);
  lose(lane);
  EXPECT_EQ(blamed(), 0u);
}

// Else a request that waited for what is lost would be answered as if it had not been.
TEST_F(lanes_of_a_device, what_waits_for_the_device_does_not_run_when_it_is_lost) {
  run(lane);
  operation& op = issued(first_helper, behind({lane, 1}), &do_nothing);
  lanes_.queue(op);
  std::this_thread::sleep_for(30ms);  // it waits
  lose(other);
  lanes_.drain();
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(lanes_.done(first_helper), 0u);
  EXPECT_EQ(lanes_.done(other), 0u);
  EXPECT_EQ(channel_.view().slot(op.slot).load(), 0u) << "nor has it started";
  EXPECT_FALSE(reports_seen_.peek()) << "nor is anything answered";
}

// The application looks how long they run, and they do so one after the other.
TEST_F(lanes_of_a_device, those_with_a_time_limit_are_marked_each) {
  run(lane);
  for (int i = 0; i < 2; ++i) {
    operation& op = issued(lane);
    op.timed = true;
    lanes_.run_here(op);
  }
  run(lane);
  EXPECT_EQ(device_.enqueued(lane), " runs says 1 runs says 2 runs says 3 runs");
}

TEST_F(lanes_of_a_device, one_with_a_time_limit_says_for_what_the_device_lets_it_wait) {
  const auto gate_of = [&](const operation& op) { return protocol::gate(channel_.view().gate(op.slot).load()); };
  for (int i = 0; i < 2; ++i) run(lane), run(third);
  wait_list waits = behind({third, 2});
  waits.add({lane, 1});
  operation& op = issued(other, waits);
  op.timed = true;
  channel_.view().gate(op.slot).store(~std::uint64_t{0});
  lanes_.run_here(op);
  EXPECT_EQ(gate_of(op).lanes(), 1u << lane | 1u << third);
  EXPECT_EQ(gate_of(op).youngest(op.ticket), 4u);
  EXPECT_FALSE(gate_of(op).shares_a_call());
  operation& free = issued(other);
  free.timed = true;
  channel_.view().gate(free.slot).store(~std::uint64_t{0});
  lanes_.run_here(free);
  EXPECT_EQ(gate_of(free).word(), 0u);
}

TEST_F(lanes_of_a_device, those_with_a_time_limit_that_share_a_call_say_so) {
  run(other);
  troupe_engine_operation grouped = testing_worker::operation_that(&enqueue);
  grouped.run_group = [](void*, const void* const*, const troupe_engine_call*, std::uint32_t, troupe_engine_failure*) {
    return true;
  };
  std::array<operation*, 3> group;
  for (operation*& op : group) {
    op = &issued(lane, op == group[1] ? behind({other, 1}) : wait_list());
    op->timed = true;
    op->what = &grouped;
  }
  group[0]->together = 3;
  lanes_.run_here(*group[0]);
  for (const operation* op : group) {
    const protocol::gate gate(channel_.view().gate(op->slot).load());
    EXPECT_EQ(gate.shares_a_call(), op != group[0]);
  }
}

// Else the answer to a long one would come with that to the last of many.
TEST_F(lanes_of_a_device, those_that_take_long_are_marked_each) {
  run(lane);
  lanes_.mark_all();
  std::this_thread::sleep_for(20ms);
  device_.finish(1);
  bool each = false;
  int i = 1;
  for (const auto until = std::chrono::steady_clock::now() + 10s; !each && std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(1ms);  // somebody looks how long it took
    run(lane);
    run(lane);
    i += 2;
    each = device_.enqueued(lane).ends_with(" runs says " + std::to_string(i - 1) + " runs says " + std::to_string(i));
  }
  EXPECT_TRUE(each) << device_.enqueued(lane);
}

TEST_F(lanes_of_a_device, a_fault_that_a_call_of_another_lane_is_answered_with_is_that_of_the_lane_with_work) {
  run(lane);
  lose(other);
  EXPECT_EQ(blamed(), 1u);
}

TEST_F(lanes_of_a_device, nobody_is_blamed_for_a_fault_where_several_lanes_have_work) {
  run(lane);
  run(other);
  lose(lane);
  EXPECT_EQ(blamed(), 0u);
}

TEST_F(lanes_of_a_device, a_call_that_is_answered_with_a_fault_while_nothing_else_runs_is_blamed_for_it) {
  lose(lane);
  EXPECT_EQ(blamed(), 1u);
}

}  // namespace
}  // namespace troupe
