// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <troupe/async/promise.hpp>
#include <troupe/base/clock.hpp>
#include <vector>

namespace troupe {
namespace {

/// A runtime that, like a device, answers its cores only when a thread drives it.
class driven_runtime final : public waiter {
 public:
  void wait(pending_core& core, std::int64_t deadline_ns) noexcept override {
    ++waits;
    blocked_inside = core.has_blocked_waiter();
    if (answer_in_wait) {
      answer_in_wait->complete(42);
    } else {
      core.sleep(deadline_ns);
    }
  }
  void interest_added(pending_core& core) noexcept override {
    ++interests;
    had_continuation = core.has_continuation();
  }
  void answered(pending_core& core) noexcept override {
    ++answers;
    core.wake_sleepers();
  }

  ref<pending_state<int>> answer_in_wait;
  void interest_met(pending_core&) noexcept override { ++met; }

  std::atomic<int> waits = 0, interests = 0, answers = 0, met = 0;
  bool blocked_inside = false, had_continuation = false;
};

class counted_state final : public pending_state<int> {
 public:
  counted_state(waiter* helper, std::atomic<int>& alive) : pending_state(helper), alive_(alive) { ++alive_; }
  void cancel() noexcept override { complete(cancelled("the request")); }

 private:
  ~counted_state() override { --alive_; }
  std::atomic<int>& alive_;
};

struct fixture {
  driven_runtime runtime;
  std::atomic<int> alive = 0;
  ref<pending_state<int>> core = ref<pending_state<int>>::adopt(new counted_state(&runtime, alive));
  pending<int> consumer{core};
};

TEST(pending_core, lets_a_thread_in_get_drive_the_runtime) {
  fixture f;
  f.runtime.answer_in_wait = f.core;
  EXPECT_EQ(*f.consumer.get(), 42);
  EXPECT_EQ(f.runtime.waits, 1);
  EXPECT_EQ(f.runtime.answers, 1);
  EXPECT_TRUE(f.runtime.blocked_inside);
  EXPECT_FALSE(f.core->has_blocked_waiter());
}

TEST(pending_core, drives_the_runtime_once_if_polled) {
  fixture f;
  EXPECT_FALSE(f.consumer.get_until(0).has_value());
  EXPECT_EQ(f.runtime.waits, 1);
  EXPECT_FALSE(f.core->has_blocked_waiter());
}

TEST(pending_core, wakes_a_thread_in_the_runtimes_wait_when_another_thread_answers) {
  fixture f;
  std::jthread other([&] {
    while (!f.core->has_blocked_waiter()) std::this_thread::yield();
    f.core->complete(1);
  });
  EXPECT_EQ(*f.consumer.get(), 1);
  other.join();  // it counts the answer after it has woken this thread
  EXPECT_EQ(f.runtime.answers, 1);
}

TEST(pending_core, reports_interest_to_the_runtime_only_before_the_answer) {
  fixture f;
  int seen = 0;
  auto chained = std::move(f.consumer).then([&](result<int> r) { seen = *r; });
  EXPECT_EQ(f.runtime.interests, 1);
  EXPECT_TRUE(f.runtime.had_continuation);
  EXPECT_EQ(f.runtime.answers, 0);
  f.core->complete(5);
  EXPECT_EQ(seen, 5);

  fixture late;
  late.core->complete(6);
  std::move(late.consumer).then([&](result<int> r) { seen = *r; }).detach();
  EXPECT_EQ(late.runtime.interests, 0);
  EXPECT_EQ(seen, 6);
}

TEST(pending_core, is_cancelled_through_a_then_which_ends_a_blocked_get) {
  fixture f;
  auto chained = std::move(f.consumer).then([](result<int> r) { return r; }).then([](result<int> r) { return r; });
  chained.cancel();
  EXPECT_EQ(chained.get().error().reaction(), reaction::retry_later);
}

TEST(pending_core, is_destroyed_with_its_last_reference) {
  fixture f;
  f.consumer = {};
  EXPECT_EQ(f.alive, 1);
  f.core->complete(1);
  EXPECT_EQ(f.alive, 1);
  f.core = {};
  EXPECT_EQ(f.alive, 0);
}

TEST(pending_core, refuses_a_second_job_and_leaves_a_job_after_the_answer_to_the_caller) {
  fixture f;
  job first{.run = [](job*) noexcept {}}, second = first;
  EXPECT_EQ(f.core->attach(inline_executor(), first), attach_outcome::attached);
  EXPECT_EQ(f.core->attach(inline_executor(), second), attach_outcome::refused);
  f.core->complete(1);
  EXPECT_EQ(f.core->attach(inline_executor(), second), attach_outcome::already_done);
}

/// Lets the threads of one round begin together, so that their order varies.
class start_barrier {
 public:
  explicit start_barrier(int threads) : threads_(threads) {}
  void arrive() {
    arrived_.fetch_add(1);
    for (int spins = 0; arrived_.load() < threads_; ++spins) {
      if (spins < 200) {
        spin_hint();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0};
};

constexpr int rounds = 1000;

TEST(pending_race, sets_one_of_many_answers_and_runs_the_continuation_once) {
  for (int round = 0; round < rounds; ++round) {
    promise<int> p;
    auto q = p.get_pending();
    std::atomic<int> accepted = 0, calls = 0, value = -1;
    start_barrier start(3);
    auto producer = [&](int mine) {
      start.arrive();
      if (p.set(mine)) ++accepted;
    };
    std::jthread a(producer, 1), b(producer, 2);
    start.arrive();
    auto done = std::move(q).then([&](result<int> r) {
      ++calls;
      value = *r;
    });
    EXPECT_TRUE(done.get());
    a.join();
    b.join();
    ASSERT_EQ(accepted, 1) << "round " << round;
    ASSERT_EQ(calls, 1) << "round " << round;
    ASSERT_TRUE(value == 1 || value == 2);
  }
}

TEST(pending_race, leaks_nothing_if_answer_and_destruction_race) {
  std::atomic<int> alive = 0;
  for (int round = 0; round < rounds; ++round) {
    auto core = ref<pending_state<int>>::adopt(new counted_state(nullptr, alive));
    pending<int> q(core);
    start_barrier start(2);
    std::jthread producer([&, core = std::move(core)] {
      start.arrive();
      core->complete(1);
    });
    start.arrive();
    q = {};
  }
  EXPECT_EQ(alive, 0);
}

TEST(pending_race, lets_only_one_of_many_gets_take_the_answer) {
  for (int round = 0; round < rounds / 3; ++round) {
    promise<int> p;
    auto q = p.get_pending();
    std::atomic<int> took = 0, refused = 0;
    start_barrier start(4);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          start.arrive();
          q.get() ? ++took : ++refused;
        });
      }
      start.arrive();
      p.set(1);
    }
    ASSERT_EQ(took, 1) << "round " << round;
    ASSERT_EQ(refused, 2) << "round " << round;
  }
}

TEST(pending_race, runs_a_late_hook_at_most_once_after_a_cancel_and_an_answer) {
  for (int round = 0; round < rounds; ++round) {
    promise<int> p;
    auto q = p.get_pending();
    auto held = std::make_shared<std::atomic<int>>(0);
    start_barrier start(3);
    {
      std::jthread consumer([&] {
        start.arrive();
        q.cancel();
      });
      std::jthread producer([&] {
        start.arrive();
        p.set(1);
      });
      start.arrive();
      p.on_cancel([held] { ++*held; });
    }
    ASSERT_LE(*held, 1) << "round " << round;
    ASSERT_EQ(held.use_count(), 1) << "the hook was not destroyed, round " << round;
    ASSERT_TRUE(q.get());
  }
}

TEST(pending_race, loses_no_answer_to_a_timed_get) {
  for (int round = 0; round < rounds; ++round) {
    promise<int> p;
    auto q = p.get_pending();
    start_barrier start(2);
    std::jthread producer([&] {
      start.arrive();
      p.set(round);
    });
    start.arrive();
    auto answer = q.get_until(now_ns() + 20'000);
    if (!answer) answer = q.get();
    ASSERT_EQ(**answer, round);
  }
}

TEST(pending_core, reports_every_interest_as_met_if_attach_and_answer_race) {
  driven_runtime runtime;
  std::atomic<int> alive = 0;
  for (int i = 0; i < 2000; ++i) {
    auto core = ref<pending_state<int>>::adopt(new counted_state(&runtime, alive));
    std::atomic<bool> go = false;
    std::jthread answering([&] {
      while (!go) {
      }
      core->complete(i);
    });
    pending<int> consumer{core};
    go = true;
    EXPECT_EQ(*std::move(consumer).then([](result<int> r) { return *r; }).get(), i);
  }
  EXPECT_EQ(runtime.interests, runtime.met);
}

}  // namespace
}  // namespace troupe
