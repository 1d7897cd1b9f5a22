// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/testing/ring_memory.hpp>

namespace troupe {
namespace {

using testing::bytes_of;
using testing::local_ring;
using testing::ring_memory;
using testing::text_of;

ring_claim put(ring_writer& writer, const std::string& text, std::uint32_t kind = 0) {
  const ring_claim claim = writer.claim(text.size());
  if (!claim) return claim;
  std::memcpy(claim.data, text.data(), text.size());
  writer.publish(claim, kind);
  return claim;
}

std::string take(ring_reader& reader) {
  const ring_record record = reader.peek();
  EXPECT_EQ(record.status, read_status::record);
  std::string text = text_of(record.payload);
  reader.pop();
  return text;
}

TEST(ring, records_arrive_in_the_order_of_their_tickets) {
  local_ring ring(1024);
  const ring_claim first = put(ring.writer, "one", 7);
  const ring_claim second = put(ring.writer, std::string(100, 'x'), 8);
  EXPECT_EQ(first.ticket, 1u);
  EXPECT_GT(second.ticket, first.ticket);

  ring_record record = ring.reader.peek();
  ASSERT_EQ(record.status, read_status::record);
  EXPECT_EQ(record.ticket, first.ticket);
  EXPECT_EQ(record.kind, 7u);
  EXPECT_EQ(text_of(record.payload), "one");
  ring.reader.pop();

  record = ring.reader.peek();
  ASSERT_EQ(record.status, read_status::record);
  EXPECT_EQ(record.ticket, second.ticket);
  EXPECT_EQ(record.kind, 8u);
  EXPECT_EQ(text_of(record.payload), std::string(100, 'x'));
  ring.reader.pop();
  EXPECT_EQ(ring.reader.peek().status, read_status::none);
}

TEST(ring, the_newest_ticket_is_between_the_last_claim_and_the_next) {
  local_ring ring(4096);
  EXPECT_EQ(ring.writer.newest_ticket(), 0u);
  for (std::size_t bytes : {0, 1, 100, 1000, 30}) {
    const std::uint64_t before = ring.writer.newest_ticket();
    const ring_claim claim = put(ring.writer, std::string(bytes, 'x'));
    ASSERT_TRUE(claim);
    EXPECT_GT(claim.ticket, before);
    EXPECT_LE(claim.ticket, ring.writer.newest_ticket());
  }
}

TEST(ring, payloads_are_aligned_to_16_bytes_and_may_be_empty) {
  local_ring ring(1024);
  for (std::size_t bytes : {0, 1, 48, 49, 100}) {
    const ring_claim claim = ring.writer.claim(bytes);
    ASSERT_TRUE(claim);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(claim.data) % 16, 0u);
    std::memset(claim.data, 1, bytes);
    ring.writer.publish(claim);
    EXPECT_EQ(take(ring.reader).size(), bytes);
  }
}

TEST(ring, a_record_is_delivered_only_when_it_and_all_earlier_ones_are_published) {
  local_ring ring(1024);
  const ring_claim first = ring.writer.claim(4);
  const ring_claim second = ring.writer.claim(4);
  std::memcpy(first.data, "frst", 4);
  std::memcpy(second.data, "scnd", 4);
  ring.writer.publish(second);
  EXPECT_EQ(ring.reader.peek().status, read_status::none);
  ring.writer.publish(first);
  EXPECT_EQ(take(ring.reader), "frst");
  EXPECT_EQ(take(ring.reader), "scnd");
}

TEST(ring, a_skipped_claim_is_never_delivered) {
  local_ring ring(1024);
  ring.writer.skip(ring.writer.claim(100));
  put(ring.writer, "kept");
  ring.writer.skip(ring.writer.claim(10));
  EXPECT_EQ(take(ring.reader), "kept");
  EXPECT_EQ(ring.reader.peek().status, read_status::none);
}

TEST(ring, a_full_ring_refuses_claims_until_records_are_read) {
  local_ring ring(256);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put(ring.writer, "x"));
  EXPECT_EQ(ring.writer.claim(1).status, claim_status::full);
  take(ring.reader);
  EXPECT_TRUE(put(ring.writer, "y"));
  EXPECT_EQ(ring.writer.claim(1).status, claim_status::full);
}

TEST(ring, the_largest_record_fits_an_empty_ring_wherever_its_tail_is) {
  for (std::size_t offset = 0; offset < 16; ++offset) {
    local_ring ring(1024, 1 + offset);
    const std::string text(ring.region.largest_record(), 'z');
    ASSERT_TRUE(put(ring.writer, text)) << "at granule " << offset;
    EXPECT_EQ(take(ring.reader), text);
    EXPECT_EQ(ring.writer.claim(ring.region.largest_record() + 1).status, claim_status::too_large);
  }
}

TEST(ring, records_that_would_cross_the_end_start_at_the_beginning) {
  local_ring ring(1024);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string text(static_cast<std::size_t>(i * 37 % 490), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(put(ring.writer, text)) << i;
    ASSERT_EQ(take(ring.reader), text) << i;
  }
}

// The user's bytes in granule 1 of a record equal the stamp that position 5 will have one lap later.
TEST(ring, user_bytes_that_equal_a_later_stamp_are_not_taken_for_a_record) {
  local_ring ring(256);
  const ring_claim decoy = ring.writer.claim(112);
  ring.memory.put_word(decoy.data + 48, 5 + 1);
  ring.writer.publish(decoy);
  ring.reader.pop();  // nothing was peeked, so nothing is freed
  ASSERT_EQ(ring.reader.peek().ticket, 1u);
  ring.reader.pop();
  put(ring.writer, std::string(112, 'b'));  // positions 2 and 3
  take(ring.reader);
  put(ring.writer, "c");  // position 4
  take(ring.reader);
  const ring_claim unpublished = ring.writer.claim(1);
  ASSERT_EQ(unpublished.ticket, 6u);
  EXPECT_EQ(ring.reader.peek().status, read_status::none);
}

TEST(ring, tickets_grow_beyond_32_bits) {
  const std::uint64_t high = (std::uint64_t{1} << 32) - 1;
  local_ring ring(256, high);
  std::uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    const ring_claim claim = put(ring.writer, "n");
    ASSERT_TRUE(claim);
    EXPECT_GT(claim.ticket, last);
    last = claim.ticket;
    EXPECT_EQ(ring.reader.peek().ticket, last);
    ring.reader.pop();
  }
  EXPECT_GT(last, high);
}

TEST(ring, read_copies_and_frees_a_record_but_leaves_one_that_does_not_fit) {
  local_ring ring(1024);
  put(ring.writer, "twelve bytes", 3);
  std::byte small[4];
  EXPECT_EQ(ring.reader.read(small).status, read_status::too_small);
  std::byte large[64];
  const ring_record record = ring.reader.read(large);
  ASSERT_EQ(record.status, read_status::record);
  EXPECT_EQ(record.payload.data(), large);
  EXPECT_EQ(text_of(record.payload), "twelve bytes");
  EXPECT_EQ(record.kind, 3u);
  EXPECT_EQ(ring.reader.read(large).status, read_status::none);
}

TEST(ring, an_impossible_tail_is_a_violation_for_the_writer) {
  for (const std::uint64_t lie : {std::uint64_t{0}, std::uint64_t{99}, std::uint64_t{106}, ~std::uint64_t{0}}) {
    local_ring ring(256, 101);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(put(ring.writer, "x"));
    ring.memory.put_word(ring.memory.tail(), lie);
    EXPECT_EQ(ring.writer.claim(1).status, claim_status::violation) << "tail " << lie;
  }
}

TEST(ring, bytes_that_cannot_be_a_record_are_a_final_violation_for_the_reader) {
  struct forged {
    std::uint64_t stamp;
    std::uint32_t size;
    std::uint32_t kind;
  };
  const std::uint32_t padding = std::uint32_t{1} << 31;
  for (const forged f : {forged{2, 8, 0}, forged{~0ull, 8, 0}, forged{1, 1009, 0}, forged{1, 0xffffffff, 0},
                         forged{1, 0xfffffff0, 0}, forged{1, 1009, padding}, forged{1, 0xffffffff, padding}}) {
    local_ring ring(1024);
    std::byte* granule = ring.memory.granule(0);
    ring.memory.put_half(granule + 8, f.size);
    ring.memory.put_half(granule + 12, f.kind);
    ring.memory.put_word(granule, f.stamp);
    std::byte into[64];
    EXPECT_EQ(ring.reader.read(into).status, read_status::violation) << f.stamp << " " << f.size;
    ring.memory.put_word(granule, 0);
    EXPECT_EQ(ring.reader.peek().status, read_status::violation);
    EXPECT_FALSE(ring.reader.prepare_park()) << "a reader with a violation to report must not sleep";
  }
}

TEST(ring, format_refuses_unsuitable_memory_with_the_reason) {
  ring_memory memory(1024);
  const auto text = [](auto made) { return made ? std::string("accepted") : made.error().text(); };
  EXPECT_EQ(text(ring_region::format(memory.bytes(), 1000)),
            "ring capacity is 1000; expected a power of two from 256 to 1073741824");
  EXPECT_EQ(text(ring_region::format(memory.bytes(), 2048)),
            "ring memory has 1408 bytes; expected at least 2432 for a capacity of 2048");
  EXPECT_EQ(text(ring_region::format(memory.bytes().subspan(8), 256)),
            "ring memory does not begin at a multiple of 128 bytes: align it");
  EXPECT_EQ(text(ring_region::format(memory.bytes(), 1024, 0)), "first ticket of a ring is 0; expected at least 1");
}

TEST(ring, open_accepts_memory_of_a_ring_and_refuses_other_memory) {
  ring_memory memory(1024);
  EXPECT_EQ(ring_region::open(memory.bytes()).error().text(),
            "the memory holds no ring of this version: application and worker must be from one build");
  ASSERT_TRUE(ring_region::format(memory.bytes(), 1024));
  EXPECT_EQ(ring_region::open(memory.bytes()).value().capacity(), 1024u);
  EXPECT_FALSE(ring_region::open(memory.bytes().first(1024)));
  memory.put_word(memory.bytes().data() + 8, 3000);
  EXPECT_FALSE(ring_region::open(memory.bytes()));
}

TEST(ring, a_reader_with_something_to_read_does_not_park) {
  local_ring ring(1024);
  put(ring.writer, "x");
  EXPECT_FALSE(ring.reader.prepare_park());
  EXPECT_FALSE(ring.writer.wake_if_sleeping()) << "no system call for a reader that is awake";
}

TEST(ring, parking_ends_at_the_deadline) {
  local_ring ring(1024);
  ASSERT_TRUE(ring.reader.prepare_park());
  const std::int64_t until = now_ns() + 2'000'000;
  while (ring.reader.park(until)) ASSERT_TRUE(ring.reader.prepare_park());
  EXPECT_GE(now_ns(), until);
  EXPECT_FALSE(ring.writer.wake_if_sleeping());
}

TEST(ring, only_the_first_of_many_wakers_makes_the_system_call) {
  local_ring ring(1024);
  ASSERT_TRUE(ring.reader.prepare_park());
  put(ring.writer, "x");
  EXPECT_TRUE(ring.writer.wake_if_sleeping());
  EXPECT_FALSE(ring.writer.wake_if_sleeping());
  EXPECT_TRUE(ring.reader.park()) << "must not sleep: it was woken between prepare and park";
  EXPECT_EQ(take(ring.reader), "x");
}

TEST(ring, threads_can_wake_the_reader_without_a_record) {
  local_ring ring(1024);
  std::atomic<bool> work{false};
  std::thread other([&] {
    work.store(true);
    ring.reader.parking().wake_if_sleeping();
  });
  while (!work.load()) {
    ASSERT_TRUE(ring.reader.prepare_park());
    if (work.load()) {
      ring.reader.cancel_park();
      break;
    }
    ASSERT_TRUE(ring.reader.park(now_ns() + 60'000'000'000)) << "the wake was lost";
  }
  other.join();
}

}  // namespace
}  // namespace troupe
