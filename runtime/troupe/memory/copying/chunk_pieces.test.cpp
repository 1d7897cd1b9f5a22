// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <troupe/memory/copying/chunk_pieces.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(chunk_pieces, cover_every_byte_once_in_order) {
  for (const std::uint64_t bytes : {1, 99, 100, 101, 250, 1000, 1001})
    for (const std::uint64_t piece : {1, 7, 50, 100, 1000}) {
      const staging_plan plan{bytes, std::min<std::uint64_t>(bytes, 100), 3};
      chunk_pieces all(plan, piece);
      std::uint64_t reached = 0, count = 0;
      while (const auto p = all.take(plan.count())) {
        ASSERT_EQ(p->chunk * plan.chunk_bytes + p->offset, reached) << bytes << " bytes in pieces of " << piece;
        ASSERT_LE(p->bytes, piece);
        reached += p->bytes;
        ++count;
        all.finish(*p);
      }
      EXPECT_EQ(reached, bytes) << "in pieces of " << piece;
      EXPECT_EQ(count, all.total());
      EXPECT_EQ(all.complete(), plan.count());
    }
}

TEST(chunk_pieces, are_not_taken_from_chunks_beyond_the_limit) {
  chunk_pieces all({1000, 100, 4}, 50);
  EXPECT_FALSE(all.take(0));
  EXPECT_TRUE(all.take(1));
  EXPECT_EQ(all.begun(), 1u);
  EXPECT_TRUE(all.take(1));
  EXPECT_FALSE(all.take(1));
  EXPECT_EQ(all.pieces_of(1), all.next());
}

TEST(chunk_pieces, are_not_taken_from_a_chunk_whose_place_is_in_use) {
  chunk_pieces all({1000, 100, 2}, 100);
  const auto first = all.take(10), second = all.take(10);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(all.take(10));
  all.finish(*second);
  EXPECT_FALSE(all.take(10)) << "the first chunk is not complete";
  EXPECT_EQ(all.complete(), 0u);
  all.finish(*first);
  EXPECT_EQ(all.complete(), 2u);
  EXPECT_TRUE(all.take(10));
}

// Threads put pieces back in any order. A chunk counts once its pieces, and those of all chunks before it, are back.
TEST(chunk_pieces, count_a_chunk_as_complete_only_after_all_earlier_ones) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  const staging_plan plan{12'345, 100, 5};
  chunk_pieces all(plan, 30);
  std::vector<chunk_piece> out;
  std::vector<std::uint64_t> left(plan.count());
  for (std::uint64_t i = 0; i < plan.count(); ++i) left[i] = (plan.size(i) + 29) / 30;
  while (all.complete() < plan.count()) {
    const auto next = random() % 2 == 0 ? all.take(plan.count()) : std::nullopt;
    if (next) {
      out.push_back(*next);
    } else if (!out.empty()) {
      std::swap(out[random() % out.size()], out.back());
      --left[out.back().chunk];
      all.finish(out.back());
      out.pop_back();
    }
    std::uint64_t complete = 0;
    while (complete < plan.count() && left[complete] == 0) ++complete;
    ASSERT_EQ(all.complete(), complete) << "seed " << seed;
    ASSERT_EQ(all.in_hand(), out.size()) << "seed " << seed;
  }
}

TEST(chunk_pieces, begin_with_the_first_piece_after_a_restart) {
  chunk_pieces all({1000, 100, 2}, 50);
  for (int i = 0; i < 3; ++i) all.finish(*all.take(10));
  all.restart();
  EXPECT_EQ(all.complete(), 0u);
  const auto p = all.take(1);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->chunk, 0u);
  EXPECT_EQ(p->offset, 0u);
  EXPECT_TRUE(all.take(1)) << "both pieces of the first chunk are there again";
  EXPECT_FALSE(all.take(1));
}

}  // namespace
}  // namespace troupe
