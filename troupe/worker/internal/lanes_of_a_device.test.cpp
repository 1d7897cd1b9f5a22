// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <troupe/worker/internal/lanes.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>

namespace troupe {
namespace {

constexpr std::uint32_t capacity = 1024, lane = 2, other = 3;

// A device that does nothing by itself: what is enqueued on its streams, in the order in which it comes.
class recording_device final : public platform {
 public:
  void* context() const noexcept override { return nullptr; }
  result<void> enter() override { return {}; }
  std::string description() const override { return ""; }
  result<void> reserve(std::uint64_t, std::uint64_t) override { return {}; }
  result<file_descriptor> make_memory(std::uint64_t) override { return file_descriptor(); }
  result<void> try_to_map(std::uint64_t, const file_descriptor&) override { return {}; }
  result<void> map(std::uint64_t, std::uint64_t, const file_descriptor&, map_access) override { return {}; }
  void unmap(std::uint64_t) noexcept override {}
  result<void> protect(std::uint64_t, std::uint64_t, map_access) override { return {}; }
  result<void> pin(std::byte*, std::uint64_t, map_access) override { return {}; }
  void unpin(std::byte*) noexcept override {}
  result<std::uint64_t> make_managed(std::uint64_t) override { return 0; }
  void free_managed(std::uint64_t) noexcept override {}
  result<std::uint64_t> free_bytes() override { return 0; }
  result<void*> make_stream(priority, std::int32_t&) override { return static_cast<void*>(&streams_[made_++]); }
  result<void> write(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) override {
    const std::scoped_lock guard(lock_);
    said_.emplace_back(&where, value);
    enqueued_[number_of(stream)] += " says " + std::to_string(value);
    return {};
  }
  result<void> wait(void* stream, std::atomic<std::uint64_t>&, std::uint64_t value) override {
    const std::scoped_lock guard(lock_);
    enqueued_[number_of(stream)] += " waits for " + std::to_string(value);
    return {};
  }
  result<void> check(void*) override { return {}; }

  void run(void* stream) {
    const std::scoped_lock guard(lock_);
    enqueued_[number_of(stream)] += " runs";
  }
  std::string enqueued(std::uint32_t lane) {
    const std::scoped_lock guard(lock_);
    return enqueued_[lane];
  }
  void finish() {
    const std::scoped_lock guard(lock_);
    for (const auto& [where, value] : said_) where->store(value);
  }

 private:
  std::size_t number_of(void* stream) const { return static_cast<std::size_t>(static_cast<char*>(stream) - streams_); }
  std::mutex lock_;
  char streams_[max_lanes]{};
  std::size_t made_ = 0;
  std::array<std::string, max_lanes> enqueued_;
  std::vector<std::pair<std::atomic<std::uint64_t>*, std::uint64_t>> said_;
};

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
    op.what = run == &enqueue ? &enqueues_ : &loses_;
    op.engine = &device_;
    op.waits = waits;
    lanes_.will_wait_for(waits);
    lanes_.issue(op, on);
    return op;
  }
  void run(std::uint32_t on) { lanes_.run_here(issued(on)); }
  void lose(std::uint32_t on) { lanes_.run_here(issued(on, {}, &lose_the_context)); }
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
  static troupe_engine_operation operation_that(run_fn run) {
    return {.opcode = 1,
            .name = "testing.operation",
            .payload_bytes = 0,
            .lane = troupe_lane_library,
            .run = run,
            .group = nullptr,
            .run_group = nullptr,
            .ready = nullptr};
  }

  testing_worker::channel_in_memory channel_{capacity};
  ring_region report_memory_ = channel_.reports();
  ring_writer report_ring_{report_memory_};
  reporter reports_{channel_.view(), report_ring_};
  failure_log failures_;
  recording_device device_;
  lane_chooser chooser_{lane_policy::per_actor, 4, 2};
  const troupe_engine_operation enqueues_ = operation_that(&enqueue), loses_ = operation_that(&lose_the_context);
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
  EXPECT_EQ(device_.enqueued(lane), " runs says 1 runs runs");
  EXPECT_EQ(device_.enqueued(other), " waits for 1 runs");
}

TEST_F(lanes_of_a_device, and_so_it_is_when_it_was_still_to_be_run_as_the_other_was_sent) {
  operation &first = issued(lane), &second = issued(lane);
  operation& later = issued(other, behind({lane, 1}));
  lanes_.run_here(first);
  lanes_.run_here(second);
  lanes_.run_here(later);
  EXPECT_EQ(device_.enqueued(lane), " runs says 1 runs");
  EXPECT_EQ(device_.enqueued(other), " waits for 1 runs");
}

TEST_F(lanes_of_a_device, nothing_is_said_of_what_nobody_waits_for_until_there_is_much_of_it) {
  for (std::uint32_t i = 0; i < 40; ++i) run(lane);
  std::string expected;
  for (int i = 1; i <= 40; ++i) expected += i == 32 ? " runs says 32" : " runs";
  EXPECT_EQ(device_.enqueued(lane), expected);
}

TEST_F(lanes_of_a_device, a_call_that_is_answered_with_a_fault_of_before_is_not_blamed_for_it) {
  run(lane);
  run(lane);
  lose(lane);
  EXPECT_EQ(blamed(), 1u) << "the first that is not known to be done";
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
