// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/base/testing/float_reference.hpp>

namespace troupe {
namespace {

using reference::exact;

const reference::definition format{
    .exponent_bits = 8, .mantissa_bits = 0, .bias = 127, .has_infinity = false, .has_nan = true, .has_sign = false};

// Rounds in the given direction by a search through the powers of two. Values below the smallest power become that
// power.
unsigned directed(exact x, scale_rounding rounding, on_overflow choice) {
  const exact magnitude = std::fabs(x);
  unsigned code = 0;
  while (code < 255 &&
         (rounding == scale_rounding::up ? format.in_line(code) < magnitude : format.in_line(code + 1) <= magnitude))
    ++code;
  return code == 255 && choice == on_overflow::saturate ? 254 : code;
}

template <class Float>
void expect_as_by_search(Float x) {
  static const reference::converter search(format);
  for (const auto choice : {on_overflow::standard, on_overflow::saturate}) {
    ASSERT_EQ(float8_e8m0::convert(x, choice).bits, search.nearest(x, choice)) << std::hexfloat << x;
    for (const auto way : {scale_rounding::up, scale_rounding::down}) {
      ASSERT_EQ(float8_e8m0::convert(x, choice, way).bits, directed(x, way, choice))
          << std::hexfloat << x << (way == scale_rounding::up ? " up" : " down");
    }
  }
}

TEST(float8_e8m0, reads_every_code_as_a_power_of_two) {
  for (unsigned c = 0; c < 255; ++c)
    EXPECT_EQ(static_cast<float>(float8_e8m0::from_bits(static_cast<std::uint8_t>(c))),
              std::ldexp(1.0f, static_cast<int>(c) - 127));
  EXPECT_TRUE(std::isnan(float8_e8m0::from_bits(0xff)));
}

TEST(float8_e8m0, every_code_survives_conversion_to_float_and_double_and_back) {
  for (unsigned c = 0; c < 256; ++c) {
    const auto x = float8_e8m0::from_bits(static_cast<std::uint8_t>(c));
    EXPECT_EQ(float8_e8m0(static_cast<float>(x)).bits, c);
    EXPECT_EQ(float8_e8m0(static_cast<double>(x)).bits, c);
  }
}

TEST(float8_e8m0, rounds_in_every_direction_around_every_power_and_midpoint) {
  const reference::converter search(format);
  for (const float x : reference::hard_cases<float>(search)) expect_as_by_search(x);
  for (const double x : reference::hard_cases<double>(search)) expect_as_by_search(x);
}

TEST(float8_e8m0, rounds_random_numbers_in_every_direction) {
  std::mt19937_64 random(reference::seed());
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto y = std::bit_cast<double>(random());
    if (!std::isnan(x)) expect_as_by_search(x);
    if (!std::isnan(y)) expect_as_by_search(y);
    expect_as_by_search(
        std::ldexp(1.0 + static_cast<double>(random() % 4096) / 4096, static_cast<int>(random() % 260) - 130));
  }
}

TEST(float8_e8m0, rounds_a_midpoint_to_the_even_code) {
  EXPECT_EQ(float8_e8m0(1.5f), 2.0f);
  EXPECT_EQ(float8_e8m0(3.0f), 2.0f);
  EXPECT_EQ(float8_e8m0(6.0f), 8.0f);
}

TEST(float8_e8m0, has_no_sign_no_zero_and_no_infinity) {
  EXPECT_EQ(float8_e8m0(-4.0f), 4.0f);
  EXPECT_EQ(float8_e8m0(0.0f).bits, 0);
  EXPECT_EQ(float8_e8m0(-0.0).bits, 0);
  EXPECT_EQ(float8_e8m0(1e-300).bits, 0);
  EXPECT_EQ(float8_e8m0(INFINITY).bits, 0xff);
  EXPECT_EQ(float8_e8m0(-INFINITY).bits, 0xff);
  EXPECT_EQ(saturate_cast<float8_e8m0>(INFINITY).bits, 0xfe);
  EXPECT_EQ(float8_e8m0(1e300).bits, 0xff);
  EXPECT_EQ(saturate_cast<float8_e8m0>(1e300).bits, 0xfe);
  EXPECT_EQ(saturate_cast<float8_e8m0>(-NAN).bits, 0xff);
}

TEST(float8_e8m0, converts_integers_and_other_formats) {
  EXPECT_EQ(float8_e8m0(1'000'000), std::ldexp(1.0f, 20));
  EXPECT_EQ(float8_e8m0(std::numeric_limits<std::int64_t>::min()), std::ldexp(1.0f, 63));
  EXPECT_EQ(float8_e8m0(half(0.25f)), 0.25f);
  EXPECT_EQ(half(float8_e8m0(16)), 16.0f);
}

TEST(float8_e8m0, is_trivially_copyable_and_has_numeric_limits) {
  using limits = std::numeric_limits<float8_e8m0>;
  static_assert(sizeof(float8_e8m0) == 1 && std::is_trivially_copyable_v<float8_e8m0> &&
                std::is_standard_layout_v<float8_e8m0>);
  static_assert(narrow_float<float8_e8m0> && float8_e8m0(2.0f) == 2.0f);
  EXPECT_EQ(limits::max(), std::ldexp(1.0f, 127));
  EXPECT_EQ(limits::min(), std::ldexp(1.0f, -127));
  EXPECT_EQ(limits::min(), std::ldexp(1.0f, limits::min_exponent - 1));
  EXPECT_EQ(limits::epsilon(), 1.0f);
  EXPECT_EQ(limits::round_error(), 0.5f);
  EXPECT_TRUE(std::isnan(limits::quiet_NaN()));
  EXPECT_FALSE(limits::quiet_NaN() == limits::quiet_NaN());
}

}  // namespace
}  // namespace troupe
