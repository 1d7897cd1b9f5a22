// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <random>
#include <troupe/device/recovery/provenance.hpp>
#include <vector>

namespace troupe {
namespace {

class contents : public testing::Test {
 protected:
  std::uint64_t at(std::uint64_t begin, std::uint64_t end) const {
    content_hash h(key);
    p.add_content(begin, end, h);
    return h.value();
  }
  const hash_key key = hash_key::random();
  provenance p;
};

TEST_F(contents, what_nobody_has_written_is_known_by_its_place) {
  EXPECT_EQ(at(100, 200), at(100, 200));
  EXPECT_NE(at(100, 200), at(200, 300));
  EXPECT_NE(at(100, 200), at(100, 201));
}

TEST_F(contents, what_was_written_alike_is_the_same_wherever_it_lies) {
  p.write(100, 200, 7);
  p.write(500, 600, 7);
  p.write(800, 900, 8);
  EXPECT_EQ(at(100, 200), at(500, 600));
  EXPECT_EQ(at(120, 150), at(520, 550));
  EXPECT_NE(at(100, 200), at(800, 900));
  EXPECT_NE(at(120, 150), at(521, 551)) << "another part of it";
}

TEST_F(contents, a_write_changes_what_it_touches_and_nothing_else) {
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

TEST_F(contents, what_was_known_before_it_was_forgotten_is_not_known_again) {
  const auto unwritten = at(100, 200);
  p.write(100, 200, 7);
  const auto written = at(100, 200);
  p.forget();
  EXPECT_NE(at(100, 200), unwritten);
  EXPECT_NE(at(100, 200), written);
}

TEST_F(contents, do_not_grow_without_end) {
  const auto unwritten = at(5, 6);
  for (std::uint64_t i = 0; i <= provenance::most_pieces; ++i) p.write(100 + 2 * i, 101 + 2 * i, i);
  EXPECT_NE(at(5, 6), unwritten) << "it must have forgotten something";
}

// A cell for each byte says the same.
TEST_F(contents, are_those_of_the_last_write_of_each_byte) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 r(seed);
  constexpr std::uint64_t size = 64;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cells(size, {UINT64_MAX, 0});  // tag, offset in its write
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
    if (same && written && begin != other) continue;  // it may have been written in one piece or in several
    EXPECT_EQ(at(begin, end) == at(other, other + (end - begin)), begin == other) << begin << " " << other;
  }
}

}  // namespace
}  // namespace troupe
