// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/numbers/convert.hpp>
#include <troupe/base/testing/float_reference.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(convert, float_to_half_in_bulk_equals_one_by_one_bit_for_bit) {
  std::mt19937_64 random(reference::seed());
  std::vector<float> from(300'003);
  for (std::size_t i = 0; i < from.size(); ++i) {
    // Half of the values are random bit patterns, the other half random numbers around the range of half.
    from[i] = i % 2 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random()))
                         : std::bit_cast<float>(static_cast<std::uint32_t>(0x33000000u + random() % 0x15000000u) |
                                                static_cast<std::uint32_t>(random() & 0x80000000u));
  }
  std::vector<half> to(from.size());
  ASSERT_TRUE(convert(std::span(from), std::span(to)));
  for (std::size_t i = 0; i < from.size(); ++i) ASSERT_EQ(to[i].bits, half(from[i]).bits) << std::hexfloat << from[i];
}

TEST(convert, half_to_float_in_bulk_equals_one_by_one_bit_for_bit) {
  std::vector<half> from(0x10000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = half::from_bits(static_cast<std::uint16_t>(i));
  std::vector<float> to(from.size());
  ASSERT_TRUE(convert(std::span<const half>(from), std::span(to)));
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(to[i]), std::bit_cast<std::uint32_t>(static_cast<float>(from[i])))
        << std::hex << i;
  }
}

TEST(convert, writes_exactly_the_length_of_the_span) {
  for (std::size_t n = 0; n < 40; ++n) {
    const std::vector<float> from(n, 2.0f);
    std::vector<half> to(n + 1, half(7));
    ASSERT_TRUE(convert(std::span(from), std::span(to).first(n)));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(to[i], 2.0f) << n;
    ASSERT_EQ(to[n], 7.0f) << n;
  }
}

TEST(convert, saturates_if_the_caller_selects_it) {
  const std::vector<float> from = {1, 1e9f, -1e9f, 500, -500, INFINITY};
  std::vector<half> halves(from.size());
  ASSERT_TRUE(convert(std::span(from), std::span(halves), on_overflow::saturate));
  EXPECT_EQ(halves, (std::vector<half>{half(1), half(65504), half(-65504), half(500), half(-500), half(65504)}));
  std::vector<float8_e4m3> bytes(from.size());
  ASSERT_TRUE(convert(std::span(from), std::span(bytes), on_overflow::saturate));
  EXPECT_EQ(static_cast<float>(bytes[3]), 448.0f);
  ASSERT_TRUE(convert(std::span(from), std::span(bytes)));
  EXPECT_EQ(bytes[3].bits, 0x7f);
}

TEST(convert, rounds_doubles_and_integers_once) {
  const std::vector<double> from = {1 + 0x1p-11 + 0x1p-40, 0.1, -3};
  std::vector<half> halves(3);
  ASSERT_TRUE(convert(std::span(from), std::span(halves)));
  EXPECT_EQ(halves[0].bits, 0x3c01);
  std::vector<bfloat16> brains(3);
  ASSERT_TRUE(convert(std::span(halves), std::span(brains)));
  EXPECT_EQ(brains[2], -3.0f);
  std::vector<double> back(3);
  ASSERT_TRUE(convert(std::span(brains), std::span(back)));
  EXPECT_EQ(back[2], -3.0);
  const std::vector<std::int64_t> integers = {1, -2, (std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1};
  ASSERT_TRUE(convert(std::span(integers), std::span(brains)));
  EXPECT_EQ(brains[2], std::ldexp(129.0f, 33));
}

TEST(convert, refuses_spans_of_different_length) {
  const std::vector<float> from(3);
  std::vector<half> to(4);
  const auto r = convert(std::span(from), std::span(to));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().reaction(), reaction::caller_bug);
  EXPECT_EQ(r.error().text(), "convert: `from` has 3 elements and `to` has 4; expected spans of equal length");
}

}  // namespace
}  // namespace troupe
