// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <troupe/device/mailbox/ledger.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(ledger, hands_out_every_slot_once_until_none_is_free) {
  for (const std::uint32_t capacity : {1u, 2u, 64u, 1024u}) {
    ledger all(capacity);
    std::set<std::uint32_t> taken;
    for (std::uint32_t i = 0; i < capacity; ++i) taken.insert(all.take());
    EXPECT_EQ(taken.size(), capacity);
    EXPECT_EQ(*taken.rbegin(), capacity - 1);
    EXPECT_EQ(all.take(), ledger::none);
    EXPECT_EQ(all.take(), ledger::none) << "it stays empty";
    all.give_back(*taken.begin());
    EXPECT_EQ(all.take(), *taken.begin());
    EXPECT_EQ(all.take(), ledger::none);
  }
}

TEST(ledger, frees_several_slots_at_once) {
  ledger all(8);
  std::vector<std::uint32_t> taken;
  for (int i = 0; i < 6; ++i) taken.push_back(all.take());
  ledger::chain back;
  all.give_back(back);
  EXPECT_TRUE(all.has_free(2));
  EXPECT_FALSE(all.has_free(3)) << "nothing was given back";
  for (const std::uint32_t s : taken) back.add(all, s);
  EXPECT_EQ(back.count(), 6u);
  EXPECT_FALSE(all.has_free(3)) << "not before they are given back";
  all.give_back(back);
  EXPECT_EQ(back.count(), 0u);
  std::set<std::uint32_t> again;
  for (int i = 0; i < 8; ++i) again.insert(all.take());
  EXPECT_EQ(again.size(), 8u);
  EXPECT_EQ(again.count(ledger::none), 0u);
  EXPECT_EQ(all.take(), ledger::none);
}

TEST(ledger, predicts_the_slot_after_the_next_one) {
  ledger all(4);
  for (std::uint32_t free = 4; free > 2; --free) {
    const std::uint32_t later = all.slot_after_next();
    (void)all.take();
    const std::uint32_t next = all.take();
    EXPECT_EQ(next, later);
    all.give_back(next);
  }
  (void)all.take();
  EXPECT_EQ(all.slot_after_next(), ledger::none) << "one is left";
  (void)all.take();
  EXPECT_EQ(all.slot_after_next(), ledger::none) << "none is left";
}

// Memory with the data of one upload needs no ordering, but must live as long as the request.
TEST(ledger, puts_the_memory_of_uploads_after_the_accesses_that_are_ordered) {
  struct nobody final : memory_owner {
    void recycle(block&) noexcept override {}
    std::optional<error> stale_cause(const block&, std::uint64_t, std::uint64_t) const override { return {}; }
    void mark_refused(block&, std::uint64_t, std::uint64_t, const error&) override {}
    block_ref failed_buffer(std::uint64_t, error) override { return {}; }
  } owner;
  block blocks[4];
  memory_range ranges[4];
  operand_use uses[4];
  for (std::uint64_t i = 0; i < 4; ++i) {
    blocks[i].owner = &owner;
    blocks[i].of_one_upload = i % 2 == 0;
    ranges[i].owner = block_ref(&blocks[i]);
    blocks[i].references.store(1);
    uses[i].range = &ranges[i];
    uses[i].touched = {i * 100, i * 100 + 10, i == 3 ? access_mode::write : access_mode::read};
  }
  ledger_entry e;
  EXPECT_EQ(e.hold(uses), 2u);
  e.access_count = 4;
  std::vector<std::uint64_t> begins;
  for (const block_access& a : e.accesses()) begins.push_back(a.what.begin);
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{100, 300, 200, 0}));
  for (const block& b : blocks) EXPECT_EQ(b.references.load(), 2u);
  e.release();
  for (const block& b : blocks) EXPECT_EQ(b.references.load(), 1u);
}

TEST(ledger, counts_requests_in_flight) {
  ledger all(8);
  EXPECT_EQ(all.in_flight(), 0u);
  all[3].in_flight = true;
  all[7].in_flight = true;
  EXPECT_EQ(all.in_flight(), 2u);
}

// Each thread marks the slots it owns. If two threads own a slot at once, one of them finds the other's mark.
TEST(ledger, never_hands_one_slot_to_two_threads) {
  for (const std::uint32_t capacity : {1u, 3u, 16u}) {
    ledger all(capacity);
    std::atomic<std::uint64_t> takes{0};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 1; t <= 4; ++t) {
      threads.emplace_back([&, t] {
        std::vector<std::uint32_t> mine;
        for (int i = 0; i < 30'000; ++i) {
          const std::uint32_t slot = all.take();
          if (slot != ledger::none) {
            ASSERT_LT(slot, capacity);
            all[slot].ticket = t;
            mine.push_back(slot);
            takes.fetch_add(1, std::memory_order_relaxed);
          }
          if (mine.size() > 3 || slot == ledger::none) {
            ledger::chain back;
            for (const std::uint32_t s : mine) {
              ASSERT_EQ(all[s].ticket, t) << "another thread had slot " << s;
              back.add(all, s);
            }
            all.give_back(back);
            mine.clear();
          }
        }
        for (const std::uint32_t s : mine) all.give_back(s);
      });
    }
    for (auto& t : threads) t.join();
    EXPECT_GT(takes.load(), 0u);
    std::set<std::uint32_t> left;
    for (std::uint32_t slot = all.take(); slot != ledger::none; slot = all.take())
      EXPECT_TRUE(left.insert(slot).second);
    EXPECT_EQ(left.size(), capacity) << "slots were lost or duplicated";
  }
}

}  // namespace
}  // namespace troupe
