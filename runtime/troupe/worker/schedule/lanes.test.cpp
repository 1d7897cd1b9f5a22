// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sys/time.h>
#include <csignal>
#include <cstring>
#include <troupe/base/clock.hpp>
#include <troupe/protocol/report.hpp>
#include <troupe/worker/schedule/lanes.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>
#include <troupe/worker/testing/one_operation.hpp>

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

  // Does what the pump does with an operation of one slot. `number` is its payload.
  operation& prepare(std::uint32_t slot, std::uint32_t number, const troupe_engine_operation& what, void* engine) {
    return prepare_on(lane, slot, number, what, engine);
  }
  operation& prepare_on(std::uint32_t on, std::uint32_t slot, std::uint32_t number, const troupe_engine_operation& what,
                        void* engine) {
    operation& op = operations_[slot];
    op.ticket = ++ticket_;
    op.slot = slot;
    op.what = &what;
    op.engine = engine;
    op.doomed.reset();
    numbers_[slot] = number;
    op.payload = reinterpret_cast<const std::byte*>(&numbers_[slot]);
    lanes_.issue(op, on);
    return op;
  }
  // The failure in the next report.
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

// Interrupts the other threads of this program again and again, at any instruction, while this object lives.
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
    std::signal(SIGALRM, SIG_IGN);  // also drops a pending signal
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

// The pump and the lane's thread take turns at a lane as fast as they can. A thread that is interrupted at a bad moment
// must not run an operation that the other one has run.
TEST_F(lanes, run_every_operation_once_though_pump_and_lane_alternate) {
  constexpr std::uint32_t most = 300'000;
  const auto what = testing_worker::operation_that(&count_run);
  std::vector<int> runs(most);
  lanes_.queue(
      prepare(0, 0, what, runs.data()));  // starts the lane's thread before the interruptions, so that they reach it
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
  EXPECT_TRUE(failures_.empty()) << "a second run found an operation started, and took that for a cancellation";
}

// No other thread would wake it: the pump may have gone to sleep long before.
TEST_F(lanes, wake_the_reactor_when_they_go_idle_with_answers_that_no_thread_waits_for) {
  const auto what = testing_worker::operation_that(&count_run);
  int runs = 0;
  std::atomic<std::uint32_t>& news = channel_.view().page().idle_epoch;
  lanes_.queue(prepare(0, 0, what, &runs));
  const std::int64_t deadline = now_ns() + 10'000'000'000;
  while (news.load() == 0 && now_ns() < deadline) std::this_thread::yield();
  EXPECT_NE(news.load(), 0u);
}

TEST_F(lanes, wake_a_thread_only_with_the_request_that_it_waits_for) {
  const auto what = testing_worker::operation_that(&count_run);
  int runs[6] = {};
  const std::atomic<std::uint32_t>& news = channel_.view().page().epoch;
  protocol::application_page& application = channel_.view().application();
  application.sleepers.store(1);
  channel_.view().wanted(1).store(2);
  lanes_.run_here(prepare(0, 0, what, runs));
  EXPECT_EQ(news.load(), 0u);
  lanes_.run_here(prepare(1, 1, what, runs));
  EXPECT_EQ(news.load(), 1u);
  lanes_.run_here(prepare(1, 2, what, runs));
  EXPECT_EQ(news.load(), 1u) << "a later request in the same slot";
  application.curious.store(1);
  lanes_.run_here(prepare(3, 3, what, runs));
  EXPECT_EQ(news.load(), 2u) << "a thread wants all news";
}

TEST_F(lanes, wake_the_reactor_for_answers_that_no_sleeping_thread_waits_for) {
  const auto what = testing_worker::operation_that(&count_run);
  int runs = 0;
  channel_.view().application().sleepers.store(1);
  std::atomic<std::uint32_t>& news = channel_.view().page().idle_epoch;
  lanes_.queue(prepare(0, 0, what, &runs));
  const std::int64_t deadline = now_ns() + 10'000'000'000;
  while (news.load() == 0 && now_ns() < deadline) std::this_thread::yield();
  EXPECT_NE(news.load(), 0u);
  EXPECT_EQ(channel_.view().page().epoch.load(), 0u);
}

bool run_once_open(void* gate, const void*, const troupe_engine_call*, troupe_engine_failure*) {
  auto& open = *static_cast<std::atomic<bool>*>(gate);
  while (!open.load()) std::this_thread::yield();
  return true;
}

// A broken kernel may write to them.
TEST_F(lanes, ignore_overwritten_counters_that_the_application_reads) {
  const auto waits = testing_worker::operation_that(&run_once_open),
             counts = testing_worker::operation_that(&count_run);
  std::atomic<bool> open{false};
  int runs[2] = {};
  lanes_.queue(prepare(0, 0, waits, &open));
  operation& second = prepare_on(lane + 1, 1, 1, counts, runs);
  second.waits.add({lane, 1});
  channel_.view().page().lanes[lane].done.store(1'000'000);
  EXPECT_EQ(lanes_.done(lane), 0u);
  lanes_.queue(second);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(std::atomic_ref(runs[1]).load(), 0) << "it ran before what it waits for";
  open.store(true);
  lanes_.drain();
  EXPECT_EQ(runs[1], 1);
}

TEST_F(lanes, report_a_failure_without_a_reason_as_fatal) {
  const auto what = testing_worker::operation_that(&fail_without_a_word);
  lanes_.run_here(prepare(0, 0, what, nullptr));
  const told t = next_report();
  EXPECT_EQ(t.how, static_cast<std::uint8_t>(reaction::fatal));
  EXPECT_EQ(t.domain, "");
  EXPECT_EQ(t.text, "");
}

TEST_F(lanes, correct_an_invalid_reaction_and_unterminated_texts_of_an_engine) {
  const auto what = testing_worker::operation_that(&fail_in_bad_form);
  lanes_.run_here(prepare(0, 0, what, nullptr));
  const told t = next_report();
  EXPECT_EQ(t.how, static_cast<std::uint8_t>(reaction::fatal));
  EXPECT_EQ(t.domain, std::string(sizeof(troupe_engine_failure::domain) - 1, 'd'));
  EXPECT_EQ(t.text, std::string(sizeof(troupe_engine_failure::text) - 1, 't'));
}

}  // namespace
}  // namespace troupe
