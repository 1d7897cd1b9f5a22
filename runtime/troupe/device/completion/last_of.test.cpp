// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/completion/last_of.hpp>
#include <vector>

namespace troupe {
namespace {

template <std::size_t N>
std::vector<int> all_of(const last_of<int, N>& kept) {
  std::vector<int> out;
  kept.each([&](int i) { out.push_back(i); });
  return out;
}

TEST(last_of, keeps_the_last_values_in_the_order_in_which_they_were_added) {
  last_of<int, 3> kept;
  EXPECT_EQ(all_of(kept), std::vector<int>());
  kept.add(1);
  kept.add(2);
  EXPECT_EQ(all_of(kept), (std::vector<int>{1, 2}));
  kept.add(3);
  kept.add(4);
  EXPECT_EQ(all_of(kept), (std::vector<int>{2, 3, 4}));
}

TEST(last_of, finds_a_value_until_it_is_overwritten) {
  last_of<int, 2> kept;
  const auto is = [](int wanted) { return [wanted](int i) { return i == wanted; }; };
  EXPECT_EQ(kept.find(is(0)), nullptr) << "0 was never added, though empty places hold it";
  kept.add(5);
  ASSERT_NE(kept.find(is(5)), nullptr);
  kept.add(6);
  kept.add(7);
  EXPECT_EQ(kept.find(is(5)), nullptr);
  EXPECT_EQ(*kept.find(is(7)), 7);
}

}  // namespace
}  // namespace troupe
