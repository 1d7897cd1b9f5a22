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

// Blocks until the test releases it.
std::atomic<bool> held{false}, released{false};
bool hold(void* device, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
  held = true;
  while (!released) std::this_thread::yield();
  return enqueue(device, payload, c, failure);
}

class gpu_lanes : public testing::Test {
 protected:
  using run_fn = decltype(troupe_engine_operation::run);

  gpu_lanes() {
    EXPECT_TRUE(lanes_.device().make_streams(chooser_));
    lanes_.when_context_lost([this](const failure& why) { lost_.push_back(why); });
  }
  ~gpu_lanes() override {
    lanes_.device().mark_all();
    device_.finish();
  }
  operation& issued(std::uint32_t on, const wait_list& waits = {}, run_fn run = &enqueue) {
    operation& op = operations_[ticket_];
    op.slot = static_cast<std::uint32_t>(ticket_);
    op.ticket = ++ticket_;
    op.what = std::find_if(whats_.begin(), whats_.end(), [run](const auto& w) { return w.run == run; });
    op.engine = &device_;
    op.waits = waits;
    lanes_.device().mark_awaited(waits);
    lanes_.issue(op, on);
    return op;
  }
  void run(std::uint32_t on) { lanes_.run_here(issued(on)); }
  void lose(std::uint32_t on) { lanes_.run_here(issued(on, {}, &lose_the_context)); }
  // Ignores what follows `expected`, because the watcher may have added a mark by now.
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
  // Returns the ticket that the only loss of the context is blamed on; 0 if there is none.
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

// Otherwise an operation that waits for the first of many long ones would wait for all that are enqueued after it.
TEST_F(gpu_lanes, mark_an_operation_right_after_it_if_another_lane_waits_for_it) {
  run(lane);
  operation& later = issued(other, behind({lane, 1}));
  run(lane);
  run(lane);
  lanes_.run_here(later);
  EXPECT_TRUE(begins(lane, " runs marks 1 runs runs")) << device_.enqueued(lane);
  EXPECT_TRUE(begins(other, " waits for 1 runs")) << device_.enqueued(other);
}

TEST_F(gpu_lanes, mark_an_awaited_operation_right_after_it_even_if_it_is_enqueued_later) {
  operation &first = issued(lane), &second = issued(lane);
  operation& later = issued(other, behind({lane, 1}));
  lanes_.run_here(first);
  lanes_.run_here(second);
  lanes_.run_here(later);
  EXPECT_TRUE(begins(lane, " runs marks 1 runs")) << device_.enqueued(lane);
  EXPECT_TRUE(begins(other, " waits for 1 runs")) << device_.enqueued(other);
}

// Otherwise these answers would come only with the operation that waits, and never if that one waits, through the host,
// for one of these answers.
TEST_F(gpu_lanes, mark_finished_work_before_they_wait_for_another_lane) {
  run(lane);
  run(other);
  lanes_.run_here(issued(other, behind({lane, 1})));
  EXPECT_TRUE(begins(other, " runs marks 1 waits for 1 runs")) << device_.enqueued(other);
}

TEST_F(gpu_lanes, mark_the_last_operation_of_a_lane_soon_though_nothing_follows_it) {
  run(other);
  for (std::uint32_t i = 0; i < 64; ++i) run(lane);  // the device completes none of these
  EXPECT_TRUE(becomes(other, " runs marks 1")) << device_.enqueued(other);
}

TEST_F(gpu_lanes, mark_operations_that_are_not_awaited_only_after_64_of_them) {
  for (std::uint32_t i = 0; i < 80; ++i) run(lane);
  std::string expected;
  for (int i = 1; i <= 80; ++i) expected += i == 64 ? " runs marks 64" : " runs";
  EXPECT_TRUE(begins(lane, expected)) << device_.enqueued(lane);
}

TEST_F(gpu_lanes, leave_queued_operations_to_be_marked_by_the_thread_that_enqueues_them) {
  held = released = false;
  run(lane);
  operation& op = issued(lane, {}, &hold);
  op.only_enqueues = true;
  lanes_.queue(op);
  while (!held) std::this_thread::yield();
  lanes_.device().mark_all();
  EXPECT_EQ(device_.enqueued(lane), " runs");
  released = true;
  EXPECT_TRUE(becomes(lane, " runs runs marks 2")) << device_.enqueued(lane);
}

// Otherwise the answer to a complete operation would come only with the next one.
TEST_F(gpu_lanes, mark_finished_work_before_an_operation_that_may_take_long) {
  held = released = false;
  run(lane);
  lanes_.queue(issued(lane, {}, &hold));
  while (!held) std::this_thread::yield();
  EXPECT_EQ(device_.enqueued(lane), " runs marks 1");
  released = true;
  EXPECT_TRUE(becomes(lane, " runs marks 1 runs marks 2")) << device_.enqueued(lane);
}

TEST_F(gpu_lanes, mark_finished_work_before_they_wait_for_the_host) {
  run(lane);
  operation& slow = issued(first_helper, {}, &do_nothing);
  operation& op = issued(lane, behind({first_helper, 1}));
  op.only_enqueues = true;
  lanes_.queue(op);
  EXPECT_TRUE(becomes(lane, " runs marks 1")) << device_.enqueued(lane);
  lanes_.run_here(slow);
  EXPECT_TRUE(becomes(lane, " runs marks 1 runs marks 2")) << device_.enqueued(lane);
}

TEST_F(gpu_lanes, wake_a_waiting_thread_when_its_operation_is_complete_and_not_before) {
  run(lane);
  lanes_.device().mark_all();
  run(lane);
  std::atomic<bool> back = false;
  std::thread waits([&] {
    lanes_.drain();
    back = true;
  });
  EXPECT_TRUE(becomes(lane, " runs marks 1 runs marks 2")) << device_.enqueued(lane);
  std::this_thread::sleep_for(40ms);  // the thread sleeps by now
  device_.finish(1);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(back);
  device_.finish();
  waits.join();
}

TEST_F(gpu_lanes, wake_each_waiting_thread_when_its_own_operation_is_complete) {
  for (int i = 0; i < 3; ++i) {
    run(lane);
    lanes_.device().mark_all();
  }
  std::array<std::atomic<bool>, 2> back{};
  std::vector<std::thread> waiting;
  const auto wait_for = [&](std::size_t which, std::uint64_t sequence) {
    operation& op = issued(first_helper + static_cast<std::uint32_t>(which), behind({lane, sequence}), &do_nothing);
    waiting.emplace_back([this, &op, &back, which] {
      lanes_.run_here(op);
      back[which] = true;
    });
    std::this_thread::sleep_for(30ms);  // the threads sleep by now
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

// The driver may be ending another process of the same GPU.
TEST_F(gpu_lanes, detect_progress_while_the_driver_answers_no_question) {
  run(lane);
  lanes_.device().mark_all();
  device_.driver_is_busy = true;
  while (device_.checks == 0) std::this_thread::yield();
  std::thread waits([this] { lanes_.device().wait_until_done({lane, 1}); });
  std::this_thread::sleep_for(20ms);  // the thread sleeps, so the watcher has to wake it
  device_.finish();
  waits.join();
  device_.driver_is_busy = false;
  EXPECT_TRUE(lost_.empty());
}

TEST_F(gpu_lanes, blame_the_only_incomplete_operation_and_not_the_call_that_reports_the_fault) {
  run(lane);
  lose(lane);
  EXPECT_EQ(blamed(), 1u) << "the only operation that is not known to be complete";
}

TEST_F(gpu_lanes, blame_no_operation_for_a_fault_if_several_of_a_lane_are_incomplete) {
  run(lane);
  run(lane);
  lose(lane);
  EXPECT_EQ(blamed(), 0u);
}

// Otherwise a request that waited for lost work would be answered as if that work had been done.
TEST_F(gpu_lanes, do_not_run_an_operation_that_waits_for_the_device_once_it_is_lost) {
  run(lane);
  operation& op = issued(first_helper, behind({lane, 1}), &do_nothing);
  lanes_.queue(op);
  std::this_thread::sleep_for(30ms);  // the operation waits by now
  lose(other);
  lanes_.drain();
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(lanes_.done(first_helper), 0u);
  EXPECT_EQ(lanes_.done(other), 0u);
  EXPECT_EQ(channel_.view().slot(op.slot).load(), 0u) << "it must not have started";
  EXPECT_FALSE(reports_seen_.peek()) << "nothing may be answered";
}

// The application times the operations one after the other.
TEST_F(gpu_lanes, mark_each_operation_with_a_time_limit) {
  run(lane);
  for (int i = 0; i < 2; ++i) {
    operation& op = issued(lane);
    op.timed = true;
    lanes_.run_here(op);
  }
  run(lane);
  EXPECT_EQ(device_.enqueued(lane), " runs marks 1 runs marks 2 runs marks 3 runs");
}

TEST_F(gpu_lanes, record_in_the_gate_which_operations_a_timed_one_waits_for) {
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

TEST_F(gpu_lanes, record_in_the_gate_that_timed_operations_share_a_call) {
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

// Otherwise the answer to a long operation would come only with the answer to the last of many.
TEST_F(gpu_lanes, mark_each_operation_if_operations_take_long) {
  run(lane);
  lanes_.device().mark_all();
  std::this_thread::sleep_for(20ms);
  device_.finish(1);
  bool each = false;
  int i = 1;
  for (const auto until = std::chrono::steady_clock::now() + 10s; !each && std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(1ms);  // the watcher measures this time
    run(lane);
    run(lane);
    i += 2;
    each =
        device_.enqueued(lane).ends_with(" runs marks " + std::to_string(i - 1) + " runs marks " + std::to_string(i));
  }
  EXPECT_TRUE(each) << device_.enqueued(lane);
}

TEST_F(gpu_lanes, blame_the_lane_with_work_for_a_fault_that_another_lane_reports) {
  run(lane);
  lose(other);
  EXPECT_EQ(blamed(), 1u);
}

TEST_F(gpu_lanes, blame_no_operation_for_a_fault_if_several_lanes_have_work) {
  run(lane);
  run(other);
  lose(lane);
  EXPECT_EQ(blamed(), 0u);
}

// After any other error, kernels may still run and write.
TEST_F(gpu_lanes, do_not_conclude_from_another_error_that_kernels_have_ended) {
  EXPECT_FALSE(lanes_.device().has_ended_kernels());
  lanes_.device().lose(
      error(error::details{.reaction = reaction::retry_later, .domain = "cuda", .code = 2, .text = "no memory"}));
  EXPECT_FALSE(lanes_.device().has_ended_kernels());
}

TEST_F(gpu_lanes, know_from_the_driver_that_kernels_have_ended) {
  lanes_.device().lose(error(error::details{.reaction = reaction::context_lost,
                                            .domain = "cuda",
                                            .code = testing_worker::recording_device::kernel_failed,
                                            .text = "an illegal address"}));
  EXPECT_TRUE(lanes_.device().has_ended_kernels());
}

TEST_F(gpu_lanes, blame_the_call_that_reports_a_fault_if_nothing_else_is_incomplete) {
  lose(lane);
  EXPECT_EQ(blamed(), 1u);
}

}  // namespace
}  // namespace troupe
