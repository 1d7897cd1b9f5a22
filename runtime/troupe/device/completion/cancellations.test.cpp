// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/device/completion/cancellations.hpp>
#include <troupe/device/completion/open_requests.hpp>

namespace troupe {
namespace {

class cancelled_requests : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(channel_.create(4)); }
  std::uint64_t word(std::uint32_t slot) { return channel_->slot(slot).load(); }

  shared_channel channel_;
  cancellations cancelled_{channel_};
};

TEST_F(cancelled_requests, are_marked_only_once) {
  EXPECT_TRUE(cancelled_.mark(2, 9, {"a reason", reaction::retry_later}));
  EXPECT_FALSE(cancelled_.mark(2, 9, {"another", reaction::retry_later}));
  EXPECT_EQ(word(2), protocol::slot_word(9, protocol::phase::cancelled));
  ASSERT_TRUE(cancelled_.any());
  const auto taken = cancelled_.take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].slot, 2u);
  EXPECT_EQ(taken[0].ticket, 9u);
  EXPECT_STREQ(taken[0].why.text, "a reason");
  EXPECT_FALSE(cancelled_.any());
  EXPECT_TRUE(cancelled_.take().empty());
}

TEST_F(cancelled_requests, never_include_requests_that_have_started) {
  channel_->slot(1).store(protocol::slot_word(5, protocol::phase::started));
  EXPECT_FALSE(cancelled_.mark(1, 5, {"too late", reaction::retry_later}));
  EXPECT_TRUE(cancelled_.mark(1, 6, {"the slot's next request", reaction::retry_later}));
}

// Otherwise the thread that cancels would never return.
TEST_F(cancelled_requests, are_given_up_if_a_worker_keeps_changing_their_word) {
  std::atomic<bool> ends{false};
  std::thread worker([&] {
    for (std::uint64_t i = 0; !ends.load(std::memory_order_relaxed); ++i)
      channel_->slot(0).store(protocol::slot_word(i % 2, protocol::phase::none), std::memory_order_relaxed);
  });
  cancellations impatient(channel_, 1);  // a second change in a row may be rare, on few processors
  EXPECT_FALSE(impatient.take_impossible());
  bool impossible = false;
  const std::int64_t deadline = now_ns() + 20'000'000'000;
  while (!impossible && now_ns() < deadline) {
    (void)impatient.mark(0, 10, {"in time", reaction::retry_later});
    impossible = impatient.take_impossible();
    (void)impatient.take();
  }
  ends = true;
  worker.join();
  EXPECT_TRUE(impossible);
}

TEST_F(cancelled_requests, are_never_started_by_a_worker_that_races_with_the_cancellation) {
  for (std::uint64_t ticket = 1; ticket <= 2000; ++ticket) {
    std::atomic<bool> go{false}, started{false};
    std::thread worker([&] {
      while (!go.load()) {
      }
      std::uint64_t before = protocol::slot_word(ticket - 1, protocol::phase::none);
      started.store(
          channel_->slot(0).compare_exchange_strong(before, protocol::slot_word(ticket, protocol::phase::started)));
    });
    channel_->slot(0).store(protocol::slot_word(ticket - 1, protocol::phase::none));
    go.store(true);
    const bool cancelled = cancelled_.mark(0, ticket, {"in time", reaction::retry_later});
    worker.join();
    ASSERT_NE(cancelled, started.load()) << ticket;
  }
}

TEST_F(cancelled_requests, stay_cancelled_in_the_next_workers_channel) {
  ASSERT_TRUE(cancelled_.mark(3, 4, {"before the change", reaction::retry_later}));
  const auto changed = cancelled_.carry_over([&]() -> result<void> {
    channel_->slot(3).store(0);  // as in a new channel
    return {};
  });
  EXPECT_TRUE(changed);
  EXPECT_EQ(word(3), protocol::slot_word(4, protocol::phase::cancelled));
}

TEST_F(cancelled_requests, count_as_started_once_the_worker_is_not_trusted) {
  serving_worker worker;
  worker.begin(1);
  channel_->slot(0).store(protocol::slot_word(8, protocol::phase::started));
  EXPECT_TRUE(has_started(channel_, worker, 0, 8));
  EXPECT_FALSE(has_started(channel_, worker, 1, 8));
  worker.end(false);
  EXPECT_TRUE(has_started(channel_, worker, 1, 8)) << "nothing that the worker wrote is believed";
  worker.sorted_out();
  EXPECT_FALSE(has_started(channel_, worker, 0, 8)) << "no worker has served since";
}

TEST_F(cancelled_requests, have_an_impossible_word_only_if_its_ticket_is_later_than_that_of_the_request_in_flight) {
  ledger requests(4);
  const std::uint32_t slot = requests.take();
  requests[slot].ticket.store(7);
  const std::uint64_t future = protocol::slot_word(8, protocol::phase::started);
  EXPECT_FALSE(is_impossible_word(requests, future, slot, 7)) << "another request may have the slot by now";
  requests[slot].in_flight.store(true);
  EXPECT_TRUE(is_impossible_word(requests, future, slot, 7));
  EXPECT_FALSE(is_impossible_word(requests, protocol::slot_word(7, protocol::phase::started), slot, 7));
  EXPECT_EQ(open_up_to(requests, 7), (open_requests{{7, slot}}));
  EXPECT_TRUE(open_up_to(requests, 6).empty());
}

}  // namespace
}  // namespace troupe
