// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <troupe/actor/spawn.hpp>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/async/promise.hpp>

// Many threads at once, for the thread sanitizer. The expectations hold for every interleaving of the threads.
namespace troupe {
namespace {

struct numbered {
  int sender;
  int number;
};
struct total {};
struct crash {};

/// Checks that the messages of every sender arrive in order.
struct order_checker {
  explicit order_checker(int senders) : next(static_cast<std::size_t>(senders), 0) {}
  int handle(numbered m) {
    if (inside.exchange(true)) throw std::runtime_error("two at a time");
    if (m.number < next[static_cast<std::size_t>(m.sender)]) throw std::runtime_error("out of order");
    next[static_cast<std::size_t>(m.sender)] = m.number + 1;
    ++handled;
    inside = false;
    return m.number;
  }
  int handle(total) { return handled; }
  void handle(crash) { throw std::runtime_error("boom"); }
  task<result<int>> handle(std::string s) {
    const int handled_there = co_await other.ask(total{});
    co_return handled_there + static_cast<int>(s.size());
  }
  actor_ref<order_checker> other;
  std::vector<int> next;
  std::atomic<bool> inside{false};
  int handled = 0;

  order_checker(int senders, actor_ref<order_checker> o) : order_checker(senders) { other = std::move(o); }
};

template <class F>
void in_threads(int n, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

TEST(many_senders, have_each_accepted_message_handled_once_and_in_order) {
  constexpr int senders = 4, each = 5'000;
  stage s({.threads = 3});
  auto ref = s.spawn<order_checker>({.mailbox = 61}, senders);
  std::atomic<int> asked{0}, answered{0}, right{0}, refused{0};
  in_threads(senders, [&](int sender) {
    for (int i = 0; i < each; ++i) {
      if (i % 3 == 0) {
        ++asked;
        ref.ask(numbered{sender, i})
            .then([&, i](result<int> r) {
              ++answered;
              if (!r && r.error().reaction() == reaction::retry_later) ++refused;
              if (r && *r == i) ++right;
            })
            .detach();
      } else {
        while (!ref.tell(numbered{sender, i})) std::this_thread::yield();
      }
    }
  });
  const int told = senders * each - asked.load();
  std::optional<int> handled;
  while (!handled) {
    if (const auto r = ref.ask(total{}).get()) handled = *r;
  }
  EXPECT_EQ(*handled, told + right.load());
  EXPECT_TRUE(ref.stop().get());
  EXPECT_EQ(answered.load(), asked.load());
  EXPECT_EQ(right.load() + refused.load(), asked.load());
  EXPECT_EQ(ref.watch().get().value().kind, exit_kind::normal);
}

enum class ending { stop, kill, crash, drop };
class asks_of_an_ending_actor : public ::testing::TestWithParam<ending> {};

TEST_P(asks_of_an_ending_actor, are_each_answered_once) {
  constexpr int senders = 3, each = 200, rounds = 40;
  stage s({.threads = 2});
  for (int round = 0; round < rounds; ++round) {
    auto helper = s.spawn<order_checker>({}, senders);
    auto ref = spawn<order_checker>({.mailbox = 16, .on = s.where()}, senders, helper);
    auto end = ref.watch();
    std::atomic<int> answers{0};
    std::atomic<int> bad{0};
    in_threads(senders + 1, [&](int sender) {
      if (sender == senders) {
        for (int i = 0; i < round * 20; ++i) std::this_thread::yield();
        switch (GetParam()) {
          case ending::stop:
            ref.stop().detach();
            break;
          case ending::kill:
            ref.kill();
            break;
          case ending::crash:
            while (true) {
              const accepted told = ref.tell(crash{});
              if (told || told.error().reaction() != reaction::retry_later) break;
              std::this_thread::yield();
            }
            break;
          case ending::drop:
            break;
        }
        return;
      }
      for (int i = 0; i < each; ++i) {
        auto count = [&](result<int> r) {
          const reaction why = r ? reaction::stopped : r.error().reaction();
          if (why != reaction::stopped && why != reaction::retry_later && why != reaction::fatal) ++bad;
          ++answers;
        };
        if (i % 5 == 0) {
          ref.ask(std::string(static_cast<std::size_t>(i), 'x')).then(count).detach();
        } else {
          ref.ask(numbered{sender, i}).then(count).detach();
        }
      }
    });
    if (GetParam() == ending::drop) ref = {};
    (void)end.get();
    while (answers.load() < senders * each) std::this_thread::yield();
    EXPECT_EQ(bad.load(), 0);
    helper.stop().detach();
  }
}
INSTANTIATE_TEST_SUITE_P(of_kind, asks_of_an_ending_actor,
                         ::testing::Values(ending::stop, ending::kill, ending::crash, ending::drop));

TEST(simultaneous_stops_kills_and_crashes, of_an_actor_end_it) {
  stage s({.threads = 2});
  for (int round = 0; round < 200; ++round) {
    auto ref = s.spawn<order_checker>({}, 1);
    auto end = ref.watch();
    in_threads(3, [&](int i) {
      if (i == 0) ref.stop().detach();
      if (i == 1) ref.kill();
      if (i == 2) ref.tell(numbered{0, 1}), ref.tell(crash{});
    });
    EXPECT_TRUE(end.get());
    EXPECT_TRUE(ref.watch().get());
  }
}

TEST(repeated_crashes_and_kills, leave_every_ask_answered_and_the_child_alive) {
  constexpr int senders = 3, each = 300;
  stage s({.threads = 3});
  auto made = supervise<order_checker>("keeper", {.mailbox = 32}, senders);
  auto top = s.spawn<supervisor>({}, supervisor_options{.restarts = 1'000'000}, std::vector{made.spec});
  (void)top.ask(count_children{}).get();
  std::atomic<int> answers{0};
  in_threads(senders, [&](int sender) {
    for (int i = 0; i < each; ++i) {
      made.ref.ask(numbered{sender, i}).then([&](result<int>) { ++answers; }).detach();
      if (i % 20 == 7) made.ref.tell(crash{});
      if (i % 50 == 11) made.ref.current().kill();
      if (i % 60 == 13) (void)top.ask(which_children{}).get();
    }
  });
  while (answers.load() < senders * each) std::this_thread::yield();
  while (!made.ref.ask(total{}).get()) std::this_thread::yield();
  EXPECT_TRUE(top.stop().get());
}

struct parent {
  explicit parent(actor_context<parent>& c) : self(c) {}
  actor_ref<order_checker> handle(total) { return self.spawn<order_checker>({}, 1); }
  actor_context<parent>& self;
};

TEST(parents, can_be_killed_while_they_spawn_children) {
  stage s({.threads = 3});
  for (int round = 0; round < 100; ++round) {
    auto ref = s.spawn<parent>({});
    in_threads(3, [&](int i) {
      if (i == 2) return ref.kill();
      for (int n = 0; n < 5; ++n) {
        auto child = ref.ask(total{}).get();
        if (child) child->tell(numbered{0, 1});
      }
    });
    EXPECT_EQ(ref.watch().get().value().kind, exit_kind::killed);
  }
}

}  // namespace
}  // namespace troupe
