// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sys/time.h>
#include <csignal>
#include <cstring>
#include <troupe/base/clock.hpp>
#include <troupe/worker/internal/lanes.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>

namespace troupe {
namespace {

constexpr std::uint32_t capacity = 1024, lane = 2;

bool count_run(void* runs, const void* payload, const troupe_engine_call*, troupe_engine_failure*) {
  ++static_cast<int*>(runs)[*static_cast<const std::uint32_t*>(payload)];
  return true;
}

bool fail_without_a_word(void*, const void*, const troupe_engine_call*, troupe_engine_failure*) { return false; }

bool fail_in_bad_form(void*, const void*, const troupe_engine_call*, troupe_engine_failure* failure) {
  failure->reaction = 200;
  std::memset(failure->domain, 'd', sizeof failure->domain);
  std::memset(failure->text, 't', sizeof failure->text);
  return false;
}

class lanes : public testing::Test {
 protected:
  using run_fn = decltype(troupe_engine_operation::run);

  // What the pump does with an operation of one slot. `number` is what it is told.
  operation& prepare(std::uint32_t slot, std::uint32_t number, const troupe_engine_operation& what, void* engine) {
    operation& op = operations_[slot];
    op.ticket = ++ticket_;
    op.slot = slot;
    op.what = &what;
    op.engine = engine;
    op.doomed.reset();
    numbers_[slot] = number;
    op.payload = reinterpret_cast<const std::byte*>(&numbers_[slot]);
    lanes_.issue(op, lane);
    return op;
  }
  static troupe_engine_operation operation_that(run_fn run) {
    return {.opcode = 1,
            .name = "testing.operation",
            .payload_bytes = 4,
            .lane = troupe_lane_library,
            .run = run,
            .group = nullptr,
            .run_group = nullptr,
            .ready = nullptr};
  }
  // The failure that the next report tells of.
  struct told {
    std::uint8_t how;
    std::string domain, text;
  };
  told next_report() {
    std::array<std::byte, protocol::max_report_bytes> room;
    const ring_record record = reports_seen_.read(room);
    EXPECT_TRUE(record);
    protocol::report_header head;
    std::memcpy(&head, record.payload.data(), sizeof head);
    const std::byte* at = record.payload.data() + sizeof head;
    const auto text = [&at] {
      std::uint16_t n;
      std::memcpy(&n, at, sizeof n);
      std::string out(reinterpret_cast<const char*>(at) + sizeof n, n);
      at += sizeof n + n;
      return out;
    };
    told out{.how = head.reaction, .domain = text(), .text = {}};
    out.text = text();
    return out;
  }

  testing_worker::channel_in_memory channel_{capacity};
  ring_region report_memory_ = channel_.reports();
  ring_writer report_ring_{report_memory_};
  ring_reader reports_seen_{report_memory_};
  reporter reports_{channel_.view(), report_ring_};
  failure_log failures_;
  std::unique_ptr<operation[]> operations_ = std::make_unique<operation[]>(capacity);
  lane_set lanes_{channel_.view(), operations_.get(), reports_, failures_, wait_policy::latency};
  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(capacity);
  std::uint64_t ticket_ = 0;
};

// Holds up the other threads of this program at any instruction, again and again, until it goes.
class interruptions {
 public:
  interruptions() {
    sigemptyset(&alarm_);
    sigaddset(&alarm_, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_, nullptr);
    before_ = std::signal(SIGALRM, [](int) {
      for (const std::int64_t until = now_ns() + 20'000; now_ns() < until;) {
      }
    });
    every({.tv_sec = 0, .tv_usec = 50});
  }
  ~interruptions() {
    every({});
    std::signal(SIGALRM, SIG_IGN);  // also drops one that is on its way
    std::signal(SIGALRM, before_);
    pthread_sigmask(SIG_UNBLOCK, &alarm_, nullptr);
  }
  interruptions(const interruptions&) = delete;

 private:
  static void every(timeval t) {
    const itimerval timer{.it_interval = t, .it_value = t};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  sigset_t alarm_;
  void (*before_)(int);
};

// The pump and the lane's thread take turns at a lane as fast as they can: whoever is held up at a bad moment must not
// run what the other has run.
TEST_F(lanes, every_operation_runs_once_whoever_runs_it) {
  constexpr std::uint32_t most = 300'000;
  const auto what = operation_that(&count_run);
  std::vector<int> runs(most);
  lanes_.queue(prepare(0, 0, what, runs.data()));  // its thread is here before the interruptions, so they reach it
  const interruptions held_up;
  const std::int64_t deadline = now_ns() + 1'000'000'000;
  std::uint32_t count = 1;
  for (; count < most && now_ns() < deadline; ++count) {
    while (!lanes_.idle(lane)) spin_hint();
    operation& op = prepare(count % capacity, count, what, runs.data());
    if (count % 2 == 1)
      lanes_.run_here(op);
    else
      lanes_.queue(op);
  }
  lanes_.drain();
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(runs[i], 1) << "operation " << i;
  EXPECT_TRUE(failures_.empty()) << "the second run of one found it started, and took that for a cancellation";
}

// Nobody else will: the pump may have gone to sleep long before a lane is done.
TEST_F(lanes, a_lane_that_goes_idle_tells_the_reactor_of_answers_that_nobody_waits_for) {
  const auto what = operation_that(&count_run);
  int runs = 0;
  std::atomic<std::uint32_t>& news = channel_.view().page().idle_epoch;
  lanes_.queue(prepare(0, 0, what, &runs));
  const std::int64_t deadline = now_ns() + 10'000'000'000;
  while (news.load() == 0 && now_ns() < deadline) std::this_thread::yield();
  EXPECT_NE(news.load(), 0u);
}

TEST_F(lanes, an_engine_that_fails_without_saying_why_fails_for_good) {
  const auto what = operation_that(&fail_without_a_word);
  lanes_.run_here(prepare(0, 0, what, nullptr));
  const told t = next_report();
  EXPECT_EQ(t.how, static_cast<std::uint8_t>(reaction::fatal));
  EXPECT_EQ(t.domain, "");
  EXPECT_EQ(t.text, "");
}

TEST_F(lanes, an_engine_cannot_invent_a_reaction_or_leave_a_text_without_an_end) {
  const auto what = operation_that(&fail_in_bad_form);
  lanes_.run_here(prepare(0, 0, what, nullptr));
  const told t = next_report();
  EXPECT_EQ(t.how, static_cast<std::uint8_t>(reaction::fatal));
  EXPECT_EQ(t.domain, std::string(sizeof(troupe_engine_failure::domain) - 1, 'd'));
  EXPECT_EQ(t.text, std::string(sizeof(troupe_engine_failure::text) - 1, 't'));
}

// A device that never says that anything is done.
class silent_device final : public platform {
 public:
  void* context() const noexcept override { return nullptr; }
  result<void> enter() override { return {}; }
  std::string description() const override { return {}; }
  result<void> reserve(std::uint64_t, std::uint64_t) override { return {}; }
  result<file_descriptor> make_memory(std::uint64_t) override { return file_descriptor(); }
  result<void> try_to_map(std::uint64_t, const file_descriptor&) override { return {}; }
  result<void> map(std::uint64_t, std::uint64_t, const file_descriptor&, map_access) override { return {}; }
  void unmap(std::uint64_t) noexcept override {}
  result<void> protect(std::uint64_t, std::uint64_t, map_access) override { return {}; }
  result<void> pin(std::byte*, std::uint64_t, map_access) override { return {}; }
  void unpin(std::byte*) noexcept override {}
  result<std::uint64_t> free_bytes() override { return std::uint64_t{0}; }
  result<void*> make_stream(priority, std::int32_t& counts) override { return counts = 0, static_cast<void*>(this); }
  result<void> write(void*, std::atomic<std::uint64_t>&, std::uint64_t) override { return {}; }
  result<void> wait(void*, std::atomic<std::uint64_t>&, std::uint64_t) override { return {}; }
  result<void> check(void*) override { return {}; }
};

bool lose_the_context(void*, const void*, const troupe_engine_call*, troupe_engine_failure* failure) {
  failure->reaction = static_cast<std::uint8_t>(reaction::context_lost);
  failure->code = 700;
  std::strcpy(failure->domain, "cuda");
  std::strcpy(failure->text, "cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS");
  return false;
}

class lanes_of_a_device : public testing::Test {
 protected:
  lanes_of_a_device() {
    EXPECT_TRUE(lanes_.make_streams(chooser_));
    lanes_.when_context_lost([this](const failure& why) { lost_.push_back(why); });
  }
  void enqueue(std::uint32_t number,
               bool (*run)(void*, const void*, const troupe_engine_call*, troupe_engine_failure*)) {
    operation& op = operations_[ticket_];
    op.slot = static_cast<std::uint32_t>(ticket_);
    op.ticket = ++ticket_;
    op.name = "testing.operation";
    what_.push_back(std::make_unique<troupe_engine_operation>(troupe_engine_operation{.opcode = 1,
                                                                                      .name = "testing.operation",
                                                                                      .payload_bytes = 4,
                                                                                      .lane = troupe_lane_library,
                                                                                      .run = run,
                                                                                      .group = nullptr,
                                                                                      .run_group = nullptr,
                                                                                      .ready = nullptr}));
    op.what = what_.back().get();
    op.engine = &runs_;
    op.payload = reinterpret_cast<const std::byte*>(&zero_);
    lanes_.issue(op, number);
    lanes_.run_here(op);
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
  reporter reports_{channel_.view(), report_ring_};
  failure_log failures_;
  silent_device device_;
  lane_chooser chooser_{lane_policy::per_actor, 4, 2};
  std::unique_ptr<operation[]> operations_ = std::make_unique<operation[]>(capacity);
  std::vector<std::unique_ptr<troupe_engine_operation>> what_;
  std::vector<failure> lost_;
  std::uint64_t ticket_ = 0;
  std::uint32_t zero_ = 0;
  int runs_ = 0;
  lane_set lanes_{channel_.view(), operations_.get(), reports_, failures_, wait_policy::latency, true, &device_};
};

TEST_F(lanes_of_a_device, a_call_that_is_answered_with_a_fault_of_before_is_not_blamed_for_it) {
  enqueue(lane, &count_run);
  enqueue(lane, &count_run);
  enqueue(lane, &lose_the_context);
  EXPECT_EQ(blamed(), 1u) << "the first that is not known to be done";
}

TEST_F(lanes_of_a_device, a_fault_that_a_call_of_another_lane_is_answered_with_is_that_of_the_lane_with_work) {
  enqueue(lane, &count_run);
  enqueue(lane + 1, &lose_the_context);
  EXPECT_EQ(blamed(), 1u);
}

TEST_F(lanes_of_a_device, nobody_is_blamed_for_a_fault_where_several_lanes_have_work) {
  enqueue(lane, &count_run);
  enqueue(lane + 1, &count_run);
  enqueue(lane, &lose_the_context);
  EXPECT_EQ(blamed(), 0u);
}

TEST_F(lanes_of_a_device, a_call_that_is_answered_with_a_fault_while_nothing_else_runs_is_blamed_for_it) {
  enqueue(lane, &lose_the_context);
  EXPECT_EQ(blamed(), 1u);
}

}  // namespace
}  // namespace troupe
