// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <troupe/base/containers/text.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe {
namespace {

TEST(cat, concatenates_texts_and_numbers_in_order) {
  const std::string name = "gemm";
  EXPECT_EQ(cat(name, ": m is ", -3, std::string_view("; expected "), 'a', "t least ", 1u),
            "gemm: m is -3; expected at least 1");
  EXPECT_EQ(cat(text("a"), text("b")), "ab");
  EXPECT_EQ(cat(), "");
}

TEST(cat, writes_integers_of_all_sizes_in_decimal) {
  EXPECT_EQ(cat(std::uint8_t{65}, " ", std::int8_t{-1}), "65 -1");
  EXPECT_EQ(cat(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(cat(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(counted, uses_the_singular_for_1_only) {
  EXPECT_EQ(counted(1, "axis", "axes"), "1 axis");
  EXPECT_EQ(counted(std::size_t{0}, "axis", "axes"), "0 axes");
  EXPECT_EQ(counted(-1, "axis", "axes"), "-1 axes");
}

template <class T>
inline constexpr bool is_a_part = std::is_constructible_v<detail::text_part, const T&>;
static_assert(is_a_part<long> && is_a_part<char> && is_a_part<std::string> && is_a_part<const char*>);
static_assert(!is_a_part<bool>, "true or 1?");
static_assert(!is_a_part<double>, "with how many digits?");

}  // namespace
}  // namespace troupe
