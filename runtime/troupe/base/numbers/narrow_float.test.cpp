// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/half.hpp>
#include <troupe/base/testing/float_reference.hpp>
#include <type_traits>

namespace troupe {
namespace {

// Compiled in GNU mode, the default of CMake, in which __int128 satisfies std::integral.
__extension__ using int128 = __int128;
static_assert(std::integral<int128> && !convertible_number<int128>);
static_assert(convertible_number<std::int64_t> && convertible_number<std::uint64_t>);

using reference::converter;
using reference::definition;
using reference::exact;

template <class T>
definition define();
template <>
definition define<half>() {
  return {.exponent_bits = 5, .mantissa_bits = 10, .bias = 15, .has_infinity = true, .has_nan = true};
}
template <>
definition define<bfloat16>() {
  return {.exponent_bits = 8, .mantissa_bits = 7, .bias = 127, .has_infinity = true, .has_nan = true};
}
template <>
definition define<float8_e4m3>() {
  return {.exponent_bits = 4, .mantissa_bits = 3, .bias = 7, .has_infinity = false, .has_nan = true};
}
template <>
definition define<float8_e5m2>() {
  return {.exponent_bits = 5, .mantissa_bits = 2, .bias = 15, .has_infinity = true, .has_nan = true};
}
template <>
definition define<float4_e2m1>() {
  return {.exponent_bits = 2, .mantissa_bits = 1, .bias = 1, .has_infinity = false, .has_nan = false};
}

template <class T>
T code(unsigned c) {
  return T::from_bits(static_cast<typename T::storage>(c));
}

template <class T>
class every_format : public testing::Test {
 protected:
  // Compares the conversion of x, in both overflow modes, with the search.
  template <class Number>
  void expect_nearest(Number x) {
    const auto wide = static_cast<exact>(x);
    const unsigned standard = search_.nearest(wide, on_overflow::standard);
    const unsigned saturated = search_.nearest(wide, on_overflow::saturate);
    if (T(x).bits != standard || saturate_cast<T>(x).bits != saturated) {
      ADD_FAILURE() << std::hexfloat << "converting " << wide << std::hex << ": got 0x" << +T(x).bits
                    << ", saturating 0x" << +saturate_cast<T>(x).bits << "; want 0x" << standard << ", saturating 0x"
                    << saturated;
    }
  }

  const definition format_ = define<T>();
  const converter search_{format_};
};

using formats = testing::Types<half, bfloat16, float8_e4m3, float8_e5m2, float4_e2m1>;
TYPED_TEST_SUITE(every_format, formats);

TYPED_TEST(every_format, decodes_every_code_by_its_definition) {
  for (unsigned c = 0; c < this->format_.codes(); ++c) {
    const exact want = this->format_.value(c);
    const float got = code<TypeParam>(c);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << std::hex << c;
      EXPECT_EQ(std::signbit(got), (c & this->format_.sign_bit()) != 0) << std::hex << c;
      EXPECT_NE(std::bit_cast<std::uint32_t>(got) & 0x00400000u, 0u) << "0x" << std::hex << c << " is not quiet";
    } else {
      ASSERT_EQ(got, want) << std::hex << c;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << std::hex << c;
    }
  }
}

TYPED_TEST(every_format, every_code_survives_conversion_to_float_and_double_and_back) {
  for (unsigned c = 0; c < this->format_.codes(); ++c) {
    const auto x = code<TypeParam>(c);
    // A NaN becomes quiet; its other bits stay.
    unsigned want = c;
    if (std::isnan(this->format_.value(c)) && this->format_.has_infinity)
      want |= 1u << (this->format_.mantissa_bits - 1);
    ASSERT_EQ(TypeParam(static_cast<float>(x)).bits, want) << std::hex << c;
    ASSERT_EQ(TypeParam(static_cast<double>(x)).bits, want) << std::hex << c;
  }
}

TYPED_TEST(every_format, rounds_floats_to_nearest_even_around_every_number_and_midpoint) {
  for (const float x : reference::hard_cases<float>(this->search_)) this->expect_nearest(x);
}

TYPED_TEST(every_format, rounds_doubles_once_around_every_number_and_midpoint) {
  for (const double x : reference::hard_cases<double>(this->search_)) this->expect_nearest(x);
}

TYPED_TEST(every_format, rounds_random_floats_and_doubles_to_nearest_even) {
  std::mt19937_64 random(reference::seed());
  const double range = static_cast<double>(std::numeric_limits<TypeParam>::max()) * 1.1;
  std::uniform_real_distribution<double> exponent(
      std::log2(static_cast<double>(std::numeric_limits<TypeParam>::denorm_min())) - 2, std::log2(range));
  for (int i = 0; i < 200'000 && !this->HasFailure(); ++i) {
    const auto any = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto any_double = std::bit_cast<double>(random());
    if (!std::isnan(any)) this->expect_nearest(any);
    if (!std::isnan(any_double)) this->expect_nearest(any_double);
    const double in_range = std::exp2(exponent(random)) * (random() % 2 == 0 ? 1 : -1);
    this->expect_nearest(in_range);
    this->expect_nearest(static_cast<float>(in_range));
  }
}

TYPED_TEST(every_format, rounds_integers_once) {
  for (int i = -70'000; i <= 70'000; ++i) this->expect_nearest(i);
  std::mt19937_64 random(reference::seed());
  for (int i = 0; i < 100'000 && !this->HasFailure(); ++i) {
    const std::uint64_t x = random() >> random() % 64;
    this->expect_nearest(x);
    this->expect_nearest(static_cast<std::int64_t>(x));
  }
  this->expect_nearest(std::numeric_limits<std::int64_t>::min());
  this->expect_nearest(std::numeric_limits<std::uint64_t>::max());
  this->expect_nearest(true);
  // Just above the midpoint of two bfloat16; a conversion by way of float would round it to exactly that midpoint.
  this->expect_nearest((std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1);
}

TYPED_TEST(every_format, nan_becomes_a_quiet_nan_with_its_sign_or_6_in_a_format_without_nan) {
  for (const std::uint32_t mantissa : {0x400000u, 0x000001u, 0x200000u, 0x7fffffu}) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const auto x = std::bit_cast<float>(sign | 0x7f800000u | mantissa);
      const auto wide =
          std::bit_cast<double>(std::uint64_t{sign} << 32 | 0x7ff0000000000000u | std::uint64_t{mantissa} << 29);
      for (const auto choice : {on_overflow::standard, on_overflow::saturate}) {
        const auto got = TypeParam::convert(x, choice);
        EXPECT_EQ(got.bits, TypeParam::convert(wide, choice).bits);
        if (this->format_.has_nan) {
          EXPECT_TRUE(std::isnan(got)) << std::hex << mantissa;
          EXPECT_EQ(std::signbit(got), sign != 0) << std::hex << mantissa;
        } else {
          EXPECT_EQ(static_cast<float>(got), 6.0f);
        }
        if (this->format_.has_infinity) {
          const unsigned payload =
              mantissa >> (23 - this->format_.mantissa_bits) | 1u << (this->format_.mantissa_bits - 1);
          EXPECT_EQ(got.bits & ((1u << this->format_.mantissa_bits) - 1), payload);
        }
      }
    }
  }
}

TYPED_TEST(every_format, is_trivially_copyable) {
  static_assert(std::is_trivially_copyable_v<TypeParam> && std::is_standard_layout_v<TypeParam>);
  static_assert(std::is_trivially_default_constructible_v<TypeParam>);
  static_assert(sizeof(TypeParam) == sizeof(typename TypeParam::storage));
  static_assert(!std::is_convertible_v<float, TypeParam> && std::is_convertible_v<TypeParam, float>);
  static_assert(!std::is_constructible_v<TypeParam, long double>);
  static_assert(narrow_float<TypeParam>);
  static_assert(TypeParam{}.bits == 0);
  static_assert(TypeParam(1.5) == 1.5f && TypeParam(3) * 2 == 6.0f);
  EXPECT_EQ(TypeParam(0.0f), TypeParam(-0.0f));
  EXPECT_NE(TypeParam(0.0f).bits, TypeParam(-0.0f).bits);
}

TYPED_TEST(every_format, numeric_limits_agree_with_the_table_of_values) {
  using limits = std::numeric_limits<TypeParam>;
  const auto& line = this->search_.line();
  const auto value = [](TypeParam x) { return static_cast<exact>(static_cast<float>(x)); };
  EXPECT_EQ(value(limits::max()), line[line.size() - 2].value);
  EXPECT_EQ(value(limits::lowest()), -line[line.size() - 2].value);
  EXPECT_EQ(value(limits::denorm_min()), line[1].value);
  EXPECT_EQ(value(limits::min()), line[1u << this->format_.mantissa_bits].value);
  const auto one = std::find_if(line.begin(), line.end(), [](const auto& c) { return c.value == 1; });
  EXPECT_EQ(value(limits::epsilon()), (one + 1)->value - 1);
  EXPECT_EQ(value(limits::round_error()), 0.5L);
  EXPECT_EQ(limits::has_infinity, this->format_.has_infinity);
  EXPECT_EQ(limits::has_quiet_NaN, this->format_.has_nan);
  if (limits::has_infinity) {
    EXPECT_TRUE(std::isinf(limits::infinity()));
  }
  if (limits::has_quiet_NaN) {
    EXPECT_TRUE(std::isnan(limits::quiet_NaN()));
  }
  if (limits::has_signaling_NaN) {
    EXPECT_TRUE(std::isnan(limits::signaling_NaN()));
  }
  // The definitions in the C++ standard.
  EXPECT_EQ(value(limits::min()), std::ldexp(exact{1}, limits::min_exponent - 1));
  EXPECT_EQ(limits::max_exponent, std::ilogb(value(limits::max())) + 1);
  EXPECT_EQ(limits::digits, 1 - std::ilogb(value(limits::epsilon())));
  EXPECT_EQ(limits::max_exponent10, static_cast<int>(std::floor(std::log10(value(limits::max())))));
  EXPECT_EQ(limits::min_exponent10, static_cast<int>(std::ceil(std::log10(value(limits::min())))));
  EXPECT_EQ(limits::digits10, static_cast<int>(std::floor((limits::digits - 1) * std::log10(2.0))));
  EXPECT_EQ(limits::max_digits10, static_cast<int>(std::ceil(limits::digits * std::log10(2.0) + 1)));
}

TYPED_TEST(every_format, converts_from_every_other_format_with_one_rounding) {
  const auto from = [&]<class Other>(Other) {
    for (unsigned c = 0; c < define<Other>().codes(); ++c) {
      const auto x = code<Other>(c);
      const exact value = define<Other>().value(c);
      if constexpr (!std::is_same_v<Other, TypeParam>) {
        if (!std::isnan(value)) {
          ASSERT_EQ(TypeParam(x).bits, this->search_.nearest(value, on_overflow::standard)) << std::hex << c;
        }
      }
      if (!std::isnan(value)) {
        ASSERT_EQ(saturate_cast<TypeParam>(x).bits, this->search_.nearest(value, on_overflow::saturate))
            << std::hex << c;
      }
    }
  };
  from(half{}), from(bfloat16{}), from(float8_e4m3{}), from(float8_e5m2{}), from(float4_e2m1{});
}

TEST(half, encodes_known_values) {
  EXPECT_EQ(half(1.0f).bits, 0x3c00);
  EXPECT_EQ(half(-2.0f).bits, 0xc000);
  EXPECT_EQ(half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(saturate_cast<half>(-65520.0f).bits, 0xfbff);
  EXPECT_EQ(half(std::ldexp(1.0f, -24)).bits, 0x0001);
  EXPECT_EQ(half(std::ldexp(1.0f, -25)).bits, 0x0000);
}

TEST(half, rounds_a_double_just_above_a_midpoint_once) {
  const double x = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);  // rounded to float first, it would become 1
  EXPECT_EQ(half(static_cast<float>(x)).bits, 0x3c00);
  EXPECT_EQ(half(x).bits, 0x3c01);
}

TEST(float8_e4m3, overflows_to_nan_beyond_464_and_saturates_to_448) {
  EXPECT_EQ(float8_e4m3(464.0f).bits, 0x7e);  // half way to 480: rounds to the even code
  EXPECT_EQ(float8_e4m3(464.0001f).bits, 0x7f);
  EXPECT_EQ(float8_e4m3(-1000.0f).bits, 0xff);
  EXPECT_EQ(float8_e4m3(INFINITY).bits, 0x7f);
  EXPECT_EQ(saturate_cast<float8_e4m3>(1e30f).bits, 0x7e);
  EXPECT_EQ(saturate_cast<float8_e4m3>(-INFINITY).bits, 0xfe);
  EXPECT_EQ(saturate_cast<float8_e4m3>(NAN).bits, 0x7f);
}

TEST(float8_e5m2, overflows_to_infinity_and_saturates_to_57344) {
  EXPECT_EQ(float8_e5m2(61439.9f).bits, 0x7b);
  EXPECT_EQ(float8_e5m2(61440.0f).bits, 0x7c);
  EXPECT_EQ(saturate_cast<float8_e5m2>(61440.0f).bits, 0x7b);
  EXPECT_EQ(saturate_cast<float8_e5m2>(-INFINITY).bits, 0xfb);
  EXPECT_EQ(saturate_cast<float8_e5m2>(NAN).bits, 0x7e | (std::bit_cast<std::uint32_t>(NAN) >> 21 & 3));
}

TEST(float4_e2m1, holds_the_sixteen_numbers_of_its_definition) {
  const float numbers[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (unsigned c = 0; c < 8; ++c) {
    EXPECT_EQ(static_cast<float>(float4_e2m1::from_bits(static_cast<std::uint8_t>(c))), numbers[c]);
    EXPECT_EQ(static_cast<float>(float4_e2m1::from_bits(static_cast<std::uint8_t>(c | 8))), -numbers[c]);
  }
}

TEST(float4_e2m1, always_saturates_and_turns_nan_into_positive_six) {
  EXPECT_EQ(float4_e2m1(1e10f), 6.0f);
  EXPECT_EQ(float4_e2m1(-INFINITY), -6.0f);
  EXPECT_EQ(float4_e2m1(-NAN).bits, 0x7);
  EXPECT_EQ(float4_e2m1(5.0f), 4.0f);  // half way between 4 and 6: rounds to the even code
}

TEST(float4_e2m1, ignores_the_high_bits_of_its_byte) {
  EXPECT_EQ(float4_e2m1::from_bits(0xf3).bits, 0x3);
  float4_e2m1 x;
  x.bits = 0xf3;
  EXPECT_EQ(x, 1.5f);
}

TEST(float4_e2m1x2, stores_the_first_number_in_the_low_bits) {
  constexpr float4_e2m1x2 pair(float4_e2m1(1.5f), float4_e2m1(-6.0f));
  static_assert(pair.bits == 0xf3 && sizeof pair == 1 && std::is_trivially_copyable_v<float4_e2m1x2>);
  for (unsigned c = 0; c < 256; ++c) {
    const auto p = float4_e2m1x2::from_bits(static_cast<std::uint8_t>(c));
    EXPECT_EQ(p.bits, c);
    EXPECT_EQ(p.first().bits, c & 0xf);
    EXPECT_EQ(p.second().bits, c >> 4);
    EXPECT_EQ(p, float4_e2m1x2(p.first(), p.second()));
  }
  EXPECT_FALSE(pair == float4_e2m1x2(pair.second(), pair.first()));
}

// Compares with the compiler's own type, a second reference.
template <class Own, class Compilers>
void expect_as_the_compiler_has_it() {
  for (unsigned c = 0; c < 0x10000; ++c) {
    const auto bits = static_cast<std::uint16_t>(c);
    Compilers theirs;
    std::memcpy(&theirs, &bits, 2);
    const float got = Own::from_bits(bits), want = static_cast<float>(theirs);
    ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << std::hex << c;
  }
  std::mt19937_64 random(reference::seed());
  for (int i = 0; i < 500'000; ++i) {
    const auto expect = [](auto x) {
      const auto theirs = static_cast<Compilers>(x);
      std::uint16_t want;
      std::memcpy(&want, &theirs, 2);
      if (std::isnan(x))
        ASSERT_TRUE(std::isnan(Own(x)));
      else
        ASSERT_EQ(Own(x).bits, want) << std::hexfloat << x;
    };
    expect(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    expect(std::bit_cast<double>(random()));
    expect(std::exp2(static_cast<double>(random() % 4600) / 100 - 27) *
           (1 + static_cast<double>(random() % 4096) / 2048));
  }
}

#if defined(__FLT16_MANT_DIG__)
TEST(half, converts_like_the_type_of_the_compiler) { expect_as_the_compiler_has_it<half, _Float16>(); }
#endif

#if defined(__BFLT16_MANT_DIG__) && !defined(__clang__)  // clang needs its own runtime library for the conversion
TEST(bfloat16, converts_like_the_type_of_the_compiler) { expect_as_the_compiler_has_it<bfloat16, __bf16>(); }
#endif

}  // namespace
}  // namespace troupe
