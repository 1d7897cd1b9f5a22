// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <troupe/channel/slot_queue.hpp>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint32_t slots = 8;
constexpr std::size_t record_bytes = 64;

class slot_queues : public testing::Test {
 protected:
  static constexpr std::align_val_t alignment{64};
  struct deleter {
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, alignment); }
  };
  std::unique_ptr<std::byte[], deleter> memory_{new (alignment)
                                                    std::byte[slot_queue_region::bytes_for(slots, record_bytes)]{}};
  std::atomic<std::uint32_t> sleeps_{0};
  slot_queue_region region_{std::span(memory_.get(), slot_queue_region::bytes_for(slots, record_bytes)), slots,
                            record_bytes};
  slot_queue_writer writer_{region_, parking_ref(sleeps_)};
  slot_queue_reader reader_{region_, parking_ref(sleeps_)};

  void send(std::uint32_t slot, std::uint32_t content) {
    std::memcpy(writer_.record(slot).data(), &content, sizeof content);
    writer_.publish(writer_.claim(), slot);
  }
  static std::uint32_t content(const sent_slot& s) {
    std::uint32_t out;
    std::memcpy(&out, s.record.data(), sizeof out);
    return out;
  }
};

TEST_F(slot_queues, deliver_slots_in_the_order_of_sending_over_many_laps) {
  EXPECT_FALSE(reader_.peek());
  for (std::uint32_t i = 0; i < 1000; ++i) {
    send(i * 5 % slots, i);
    const auto sent = reader_.peek();
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->ticket, i + 1);
    EXPECT_EQ(sent->slot, i * 5 % slots);
    EXPECT_EQ(content(*sent), i);
    reader_.pop();
    EXPECT_TRUE(reader_.empty());
  }
}

TEST_F(slot_queues, have_room_for_every_slot) {
  for (std::uint32_t i = 0; i < slots; ++i) send(slots - 1 - i, i);
  for (std::uint32_t i = 0; i < slots; ++i, reader_.pop()) EXPECT_EQ(content(reader_.peek().value()), i);
  EXPECT_FALSE(reader_.peek());
}

TEST_F(slot_queues, deliver_nothing_before_all_earlier_claims_are_published) {
  const std::uint64_t first = writer_.claim(), second = writer_.claim();
  EXPECT_EQ(writer_.newest_ticket(), second);
  writer_.publish(second, 2);
  EXPECT_FALSE(reader_.peek());
  writer_.publish(first, 1);
  EXPECT_EQ(reader_.peek().value().slot, 1u);
}

TEST_F(slot_queues, let_the_reader_peek_at_slots_after_the_next) {
  EXPECT_FALSE(reader_.peek_beyond(1));
  for (std::uint32_t lap = 0; lap < 3; ++lap) {
    for (std::uint32_t i = 0; i < 5; ++i) send(i, 10 * lap + i);
    for (std::uint32_t i = 0; i < 5; ++i, reader_.pop()) {
      const auto later = reader_.peek_beyond(2);
      ASSERT_EQ(later.has_value(), i + 2 < 5);
      if (!later) continue;
      EXPECT_EQ(later->ticket, reader_.peek().value().ticket + 2);
      EXPECT_EQ(later->slot, i + 2);
      EXPECT_EQ(content(*later), 10 * lap + i + 2);
    }
  }
}

TEST_F(slot_queues, do_not_peek_beyond_kept_slots) {
  writer_.keep(0, 3, 2);
  for (std::uint32_t i = 0; i < 5; ++i) send(i, i);
  slot_queue_reader next(region_, parking_ref(sleeps_));
  next.take_over(1, 4);
  EXPECT_FALSE(next.peek_beyond(1));
  next.pop();
  EXPECT_EQ(next.peek_beyond(1).value().ticket, 5u);
}

TEST_F(slot_queues, let_a_new_reader_continue_where_the_last_one_stopped) {
  for (std::uint32_t i = 0; i < 5; ++i) send(i, i);
  for (int i = 0; i < 3; ++i) reader_.pop();
  slot_queue_reader next(region_, parking_ref(sleeps_), 4);
  EXPECT_EQ(next.peek().value().ticket, 4u);
  EXPECT_EQ(content(next.peek().value()), 3u);
}

TEST_F(slot_queues, wake_the_reader_only_if_it_sleeps) {
  EXPECT_FALSE(writer_.wake_if_sleeping());
  ASSERT_TRUE(reader_.prepare_park());
  send(0, 7);
  EXPECT_TRUE(writer_.wake_if_sleeping());
  EXPECT_FALSE(writer_.wake_if_sleeping());
  EXPECT_FALSE(reader_.prepare_park()) << "there is something to read";
  EXPECT_EQ(sleeps_.load(), 0u);
}

// Slots circulate between senders and the reader, like those of a ledger.
TEST_F(slot_queues, deliver_each_slot_once_if_many_threads_send) {
  constexpr std::uint32_t each = 20'000, threads = 3;
  std::mutex lock;
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < slots; ++i) free.push_back(i);
  const auto take = [&] {
    while (true) {
      {
        const std::scoped_lock guard(lock);
        if (!free.empty()) {
          const std::uint32_t slot = free.back();
          free.pop_back();
          return slot;
        }
      }
      std::this_thread::yield();
    }
  };
  std::vector<std::thread> senders;
  for (std::uint32_t t = 0; t < threads; ++t) {
    senders.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < each; ++i) {
        send(take(), t * each + i);
        writer_.wake_if_sleeping();
      }
    });
  }
  std::array<std::uint32_t, threads> next{};
  for (std::uint32_t read = 0; read < threads * each;) {
    const auto sent = reader_.peek();
    if (!sent) {
      if (reader_.prepare_park()) reader_.park();
      continue;
    }
    ASSERT_EQ(sent->ticket, read + 1);
    const std::uint32_t value = content(*sent), from = value / each;
    ASSERT_EQ(value % each, next[from]++) << "in the order in which its thread sent it";
    reader_.pop();
    ++read;
    const std::scoped_lock guard(lock);
    free.push_back(sent->slot);
  }
  for (auto& s : senders) s.join();
  EXPECT_TRUE(reader_.empty());
}

}  // namespace
}  // namespace troupe
