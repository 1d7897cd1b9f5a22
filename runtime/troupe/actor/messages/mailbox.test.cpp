// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <troupe/actor/messages/mailbox.hpp>
#include <vector>

namespace troupe::detail {
namespace {

struct number final : envelope {
  explicit number(int v) : value(v) { ++alive; }
  ~number() override { --alive; }
  handled deliver(actor_core&) noexcept override { return handled::ended; }
  int value;
  static inline std::atomic<int> alive{0};
};
struct large final : envelope {
  explicit large(int v) : value(v) {}
  handled deliver(actor_core&) noexcept override { return handled::ended; }
  void refuse(const error&) noexcept override { refused = value; }
  int value;
  std::string more[8];
  static inline int refused = 0;
};
struct thrower final : envelope {
  explicit thrower(int) { throw 1; }
  handled deliver(actor_core&) noexcept override { return handled::ended; }
};

int value_of_front(mailbox& box) { return static_cast<number*>(box.front())->value; }

class a_mailbox : public ::testing::TestWithParam<std::size_t> {};

TEST_P(a_mailbox, holds_as_many_messages_as_its_capacity_and_keeps_their_order_over_many_laps) {
  const std::size_t capacity = GetParam();
  mailbox box(capacity);
  EXPECT_EQ(box.capacity(), capacity);
  int in = 0, out = 0;
  for (std::size_t round = 0; round < 7 * capacity + 5; ++round) {
    while (box.push<number>(in) == refusal::none) ++in;
    ASSERT_EQ(box.size(), capacity) << "round " << round;
    ASSERT_EQ(box.push<number>(-1), refusal::full);
    for (std::size_t n = 1 + round % capacity; n > 0; --n) {
      ASSERT_TRUE(box.front());
      ASSERT_EQ(value_of_front(box), out++) << "round " << round;
      box.pop();
    }
  }
  while (box.front()) box.pop(), ++out;
  EXPECT_EQ(in, out);
  EXPECT_EQ(number::alive.load(), 0);
}
INSTANTIATE_TEST_SUITE_P(of_capacity, a_mailbox, ::testing::Values(1, 2, 3, 4, 5, 7, 8, 1000));

TEST(an_actor_mailbox, is_drained_only_once_it_is_closed_and_empty) {
  mailbox box(4);
  EXPECT_EQ(box.push<number>(1), refusal::none);
  EXPECT_FALSE(box.drained());
  box.close();
  EXPECT_EQ(box.push<number>(2), refusal::stopped);
  EXPECT_FALSE(box.drained());
  box.pop();
  EXPECT_TRUE(box.drained());
}

TEST(an_actor_mailbox, keeps_large_messages_on_the_heap_and_forwards_calls_to_them) {
  mailbox box(2);
  ASSERT_EQ(box.push<large>(7), refusal::none);
  box.front()->refuse(empty_reference());
  EXPECT_EQ(large::refused, 7);
  box.pop();
}

TEST(an_actor_mailbox, stays_usable_after_a_message_whose_constructor_throws) {
  mailbox box(2);
  EXPECT_THROW((void)box.push<thrower>(1), int);
  EXPECT_EQ(box.push<number>(3), refusal::none);
  ASSERT_TRUE(box.front());  // an empty_envelope
  box.pop();
  EXPECT_EQ(value_of_front(box), 3);
  box.pop();
}

TEST(an_actor_mailbox, delivers_each_message_of_many_producers_once) {
  constexpr int producers = 4, each = 20'000;
  mailbox box(37);
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i < each; ++i) {
        while (box.push<number>(p * each + i) != refusal::none) std::this_thread::yield();
      }
    });
  }
  std::vector<int> next(producers, 0);
  for (int n = 0; n < producers * each;) {
    if (!box.front()) {
      std::this_thread::yield();
      continue;
    }
    const int value = value_of_front(box);
    box.pop();
    ASSERT_EQ(value % each, next[static_cast<std::size_t>(value / each)]++) << "order of producer " << value / each;
    ++n;
  }
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(box.front());
}

}  // namespace
}  // namespace troupe::detail
