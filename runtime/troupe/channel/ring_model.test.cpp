// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring against a model that marks granules one by one and keeps records in a list.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/testing/ring_memory.hpp>
#include <vector>

namespace troupe {
namespace {

struct modelled_record {
  enum class state { claimed, published, skipped } state = state::claimed;
  std::uint64_t first = 0;  // first granule, counted since the ring was made
  std::uint64_t count = 0;
  std::uint32_t kind = 0;
  std::string payload;
  ring_claim claim = {};
};

class naive_ring {
 public:
  naive_ring(std::size_t granules, std::uint64_t next) : taken_(granules, false), next_(next) {}

  // Claims space for a record of this size; returns false if there is not enough.
  bool claim(std::size_t bytes, modelled_record& record) {
    std::uint64_t count = 1;
    while (count * 64 < bytes + 16) ++count;
    std::uint64_t gap = 0;
    while ((next_ + gap) % taken_.size() + count > taken_.size()) ++gap;
    for (std::uint64_t i = 0; i < gap + count; ++i)
      if (i >= taken_.size() || taken_[(next_ + i) % taken_.size()]) return false;
    for (std::uint64_t i = 0; i < gap + count; ++i) taken_[(next_ + i) % taken_.size()] = true;
    if (gap > 0) records.push_back({.state = modelled_record::state::skipped, .first = next_, .count = gap});
    record.first = next_ + gap;
    record.count = count;
    next_ += gap + count;
    return true;
  }

  // Removes skipped records, and returns the one that the reader must return next.
  const modelled_record* next() {
    while (!records.empty() && records.front().state == modelled_record::state::skipped) drop();
    return records.empty() || records.front().state == modelled_record::state::claimed ? nullptr : &records.front();
  }

  void drop() {
    for (std::uint64_t i = 0; i < records.front().count; ++i)
      taken_[(records.front().first + i) % taken_.size()] = false;
    records.pop_front();
  }

  std::deque<modelled_record> records;

 private:
  std::vector<bool> taken_;
  std::uint64_t next_;
};

class compared {
 public:
  compared(std::size_t capacity, std::uint64_t first_ticket, std::uint64_t seed)
      : ring_(capacity, first_ticket), model_(capacity / 64, first_ticket - 1), random_(seed) {}

  void run(int steps) {
    for (step_ = 0; step_ < steps && !::testing::Test::HasFatalFailure(); ++step_) {
      switch (below(4)) {
        case 0:
        case 1:
          claim();
          break;
        case 2:
          finish_one();
          break;
        case 3:
          consume();
          break;
      }
    }
    EXPECT_GT(consumed_, static_cast<std::size_t>(steps) / 20) << "the schedule moved almost nothing";
    EXPECT_GT(refused_, 0u) << "the ring was never full";
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void claim() {
    const std::size_t bytes = below(3) == 0 ? below(ring_.region.largest_record() + 1) : below(130);
    if (bytes > ring_.region.largest_record()) return;
    modelled_record record;
    const bool room = model_.claim(bytes, record);
    record.claim = ring_.writer.claim(bytes);
    ASSERT_EQ(record.claim.status, room ? claim_status::claimed : claim_status::full)
        << "step " << step_ << ", " << bytes << " bytes";
    if (!room) return void(++refused_);
    ASSERT_EQ(record.claim.ticket, record.first + 1) << "step " << step_;
    // Fills the record with stamps of the near future, which could confuse the reader.
    record.payload.resize(bytes);
    for (std::size_t at = 0; at + 8 <= bytes; at += 8) {
      const std::uint64_t decoy = record.first + below(3 * ring_.region.capacity() / 64);
      std::memcpy(record.payload.data() + at, &decoy, 8);
    }
    record.kind = static_cast<std::uint32_t>(below(1u << 31));
    std::memcpy(record.claim.data, record.payload.data(), bytes);
    model_.records.push_back(std::move(record));
  }

  void finish_one() {
    std::vector<modelled_record*> open;
    for (modelled_record& r : model_.records)
      if (r.state == modelled_record::state::claimed) open.push_back(&r);
    if (open.empty()) return;
    // Mostly publishes the oldest record, because the reader would rarely get one otherwise.
    modelled_record& r = *(below(3) == 0 ? open[below(open.size())] : open.front());
    if (below(5) == 0) {
      ring_.writer.skip(r.claim);
      r.state = modelled_record::state::skipped;
    } else {
      ring_.writer.publish(r.claim, r.kind);
      r.state = modelled_record::state::published;
    }
  }

  void consume() {
    const modelled_record* expected = model_.next();
    std::vector<std::byte> into(ring_.region.largest_record());
    const bool in_place = below(2) == 0;
    const ring_record got = in_place ? ring_.reader.peek() : ring_.reader.read(into);
    ASSERT_EQ(got.status, expected ? read_status::record : read_status::none) << "step " << step_;
    if (!expected) return;
    ASSERT_EQ(got.ticket, expected->first + 1) << "step " << step_;
    ASSERT_EQ(got.kind, expected->kind) << "step " << step_;
    ASSERT_EQ(testing::text_of(got.payload), expected->payload) << "step " << step_;
    if (in_place) ring_.reader.pop();
    model_.drop();
    ++consumed_;
  }

  testing::local_ring ring_;
  naive_ring model_;
  std::mt19937_64 random_;
  int step_ = 0;
  std::size_t consumed_ = 0;
  std::size_t refused_ = 0;
};

TEST(ring_model, the_ring_agrees_with_a_model_that_lists_records_and_marks_granules) {
  const std::uint64_t seed = testing::seed_or(20261121);
  for (const std::size_t capacity : {256, 512, 1024, 4096})
    for (const std::uint64_t first_ticket :
         {std::uint64_t{1}, (std::uint64_t{1} << 32) - 3, (std::uint64_t{1} << 63) + 1}) {
      SCOPED_TRACE("capacity " + std::to_string(capacity) + ", first ticket " + std::to_string(first_ticket) +
                   ", again with TROUPE_SEED=" + std::to_string(seed));
      compared(capacity, first_ticket, seed).run(20'000);
    }
}

}  // namespace
}  // namespace troupe
