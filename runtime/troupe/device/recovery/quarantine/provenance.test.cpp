// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <random>
#include <troupe/device/recovery/quarantine/provenance.hpp>
#include <vector>

namespace troupe {
namespace {

class memory_contents : public testing::Test {
 protected:
  std::uint64_t at(std::uint64_t begin, std::uint64_t end) const {
    content_hash h(key);
    p.add_content(begin, end, h);
    return h.value();
  }
  const hash_key key = hash_key::random();
  provenance p;
};

TEST_F(memory_contents, are_identified_by_their_address_if_never_written) {
  EXPECT_EQ(at(100, 200), at(100, 200));
  EXPECT_NE(at(100, 200), at(200, 300));
  EXPECT_NE(at(100, 200), at(100, 201));
}

TEST_F(memory_contents, are_equal_after_equal_writes_to_different_addresses) {
  p.write(100, 200, 7);
  p.write(500, 600, 7);
  p.write(800, 900, 8);
  EXPECT_EQ(at(100, 200), at(500, 600));
  EXPECT_EQ(at(120, 150), at(520, 550));
  EXPECT_NE(at(100, 200), at(800, 900));
  EXPECT_NE(at(120, 150), at(521, 551)) << "a different part of the write";
}

TEST_F(memory_contents, change_only_where_they_are_written) {
  p.write(100, 200, 7);
  const auto before = at(100, 130), middle = at(130, 160), after = at(160, 200), all = at(100, 200);
  p.write(130, 160, 8);
  EXPECT_EQ(at(100, 130), before);
  EXPECT_EQ(at(160, 200), after);
  EXPECT_NE(at(130, 160), middle);
  EXPECT_NE(at(100, 200), all);
  p.write(100, 200, 7);
  EXPECT_EQ(at(100, 200), all);
}

TEST_F(memory_contents, never_equal_their_earlier_identity_after_forget) {
  const auto unwritten = at(100, 200);
  p.write(100, 200, 7);
  const auto written = at(100, 200);
  p.forget();
  EXPECT_NE(at(100, 200), unwritten);
  EXPECT_NE(at(100, 200), written);
}

TEST_F(memory_contents, are_forgotten_if_there_are_too_many_pieces) {
  const auto unwritten = at(5, 6);
  for (std::uint64_t i = 0; i <= provenance::most_pieces; ++i) p.write(100 + 2 * i, 101 + 2 * i, i);
  EXPECT_NE(at(5, 6), unwritten) << "it must have forgotten the pieces";
}

// Compares with a model that has one cell for each byte.
TEST_F(memory_contents, are_identified_by_the_last_write_of_each_byte) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 r(seed);
  constexpr std::uint64_t size = 64;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cells(size, {UINT64_MAX, 0});  // tag, and offset in the write
  for (std::uint64_t step = 0; step < 2000; ++step) {
    const std::uint64_t begin = r() % size, end = begin + 1 + r() % (size - begin);
    if (r() % 2 == 0) {
      const std::uint64_t tag = r() % 3;
      p.write(begin, end, tag);
      for (std::uint64_t i = begin; i < end; ++i) cells[i] = {tag, i - begin};
      continue;
    }
    const std::uint64_t other = r() % size;
    if (other + (end - begin) > size) continue;
    bool same = true, written = true;
    for (std::uint64_t i = 0; i < end - begin; ++i) {
      same &= cells[begin + i] == cells[other + i];
      written &= cells[begin + i].first != UINT64_MAX;
    }
    if (same && written && begin != other) continue;  // may differ: one may have been written in several pieces
    EXPECT_EQ(at(begin, end) == at(other, other + (end - begin)), begin == other) << begin << " " << other;
  }
}

}  // namespace
}  // namespace troupe
