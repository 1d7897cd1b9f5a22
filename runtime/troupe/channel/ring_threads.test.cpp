// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/testing/ring_memory.hpp>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint64_t producers = 6;
constexpr std::uint64_t records_each = 20'000;

// A record of the stress test: its producer, its number, and bytes derived from both.
struct lead {
  std::uint64_t producer;
  std::uint64_t index;
};

std::size_t tail_bytes(const lead& l) { return (l.producer * 31 + l.index * 17) % 200; }
std::byte tail_value(const lead& l) { return static_cast<std::byte>(l.producer * 7 + l.index); }

void produce(ring_writer& writer, std::uint64_t producer, const std::atomic<bool>& reader_gave_up) {
  std::uint64_t last_ticket = 0;
  for (std::uint64_t i = 0; i < records_each && !reader_gave_up;) {
    const lead l{producer, i};
    const ring_claim claim = writer.claim(sizeof l + tail_bytes(l));
    if (!claim) {
      ASSERT_EQ(claim.status, claim_status::full);
      std::this_thread::yield();
      continue;
    }
    ASSERT_GT(claim.ticket, last_ticket) << "tickets of one thread grow";
    last_ticket = claim.ticket;
    if (i % 50 == producer) {  // some claims are skipped
      writer.skip(claim);
      writer.wake_if_sleeping();
      ++i;
      continue;
    }
    std::memcpy(claim.data, &l, sizeof l);
    std::memset(claim.data + sizeof l, static_cast<int>(tail_value(l)), tail_bytes(l));
    writer.publish(claim);
    writer.wake_if_sleeping();
    ++i;
  }
}

// Reads all records of all producers, and sleeps when there is none. Each must be whole and in its producer's order.
void consume_all(ring_reader& reader, bool in_place) {
  std::uint64_t expected = 0;
  for (std::uint64_t p = 0; p < producers; ++p)
    for (std::uint64_t i = 0; i < records_each; ++i) expected += i % 50 != p;
  std::vector<std::uint64_t> next(producers, 0);
  std::vector<std::byte> into(512);
  std::uint64_t last_ticket = 0;
  for (std::uint64_t got = 0; got < expected;) {
    const ring_record record = in_place ? reader.peek() : reader.read(into);
    if (record.status == read_status::none) {
      if (reader.prepare_park()) {
        ASSERT_TRUE(reader.park(now_ns() + 60'000'000'000)) << "a wake was lost after " << got << " of " << expected;
      }
      continue;
    }
    ASSERT_EQ(record.status, read_status::record);
    ASSERT_GT(record.ticket, last_ticket);
    last_ticket = record.ticket;
    lead l;
    ASSERT_GE(record.payload.size(), sizeof l);
    std::memcpy(&l, record.payload.data(), sizeof l);
    ASSERT_LT(l.producer, producers);
    while (next[l.producer] % 50 == l.producer) ++next[l.producer];
    ASSERT_EQ(l.index, next[l.producer]) << "producer " << l.producer;
    ++next[l.producer];
    ASSERT_EQ(record.payload.size(), sizeof l + tail_bytes(l));
    for (std::byte b : record.payload.subspan(sizeof l)) ASSERT_EQ(b, tail_value(l));
    if (in_place) reader.pop();
    ++got;
  }
}

class ring_threads : public ::testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(ring_threads, many_producers_lose_no_record_and_wake_the_sleeping_reader) {
  const auto [capacity, in_place] = GetParam();
  testing::local_ring ring(capacity);
  std::atomic<bool> gave_up{false};
  std::vector<std::thread> threads;
  for (std::uint64_t p = 0; p < producers; ++p) threads.emplace_back([&, p] { produce(ring.writer, p, gave_up); });
  consume_all(ring.reader, in_place);
  gave_up = ::testing::Test::HasFatalFailure();
  for (std::thread& t : threads) t.join();
}

INSTANTIATE_TEST_SUITE_P(sizes, ring_threads,
                         ::testing::Combine(::testing::Values<std::size_t>(512, 4096, 1 << 16), ::testing::Bool()),
                         [](const auto& info) {
                           return "capacity_" + std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_in_place" : "_copied");
                         });

// Each record is answered before the next one is sent, so the reader sleeps between almost all of them.
TEST(ring_wakes, a_reader_that_sleeps_between_records_misses_none) {
  testing::local_ring there(256), back(256);
  constexpr int rounds = 20'000;
  const auto await = [](ring_reader& reader) {
    for (;;) {
      if (reader.peek()) return reader.pop(), true;
      if (reader.prepare_park() && !reader.park(now_ns() + 60'000'000'000)) return false;
    }
  };
  const auto post = [](ring_writer& writer) {
    writer.publish(writer.claim(8));
    writer.wake_if_sleeping();
  };
  std::thread echo([&] {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_TRUE(await(there.reader)) << "lost on the way to the other reader, round " << i;
      post(back.writer);
    }
  });
  for (int i = 0; i < rounds; ++i) {
    post(there.writer);
    ASSERT_TRUE(await(back.reader)) << "lost on the way back, round " << i;
  }
  echo.join();
}

}  // namespace
}  // namespace troupe
