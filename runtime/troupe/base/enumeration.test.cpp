// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <troupe/base/enumeration.hpp>

namespace troupe::enumeration_tests {

enum class rounding : std::uint8_t {
  nearest = 0,      ///< ties to even
  toward_zero = 1,  ///< truncates
  up_9 = 2,
};
TROUPE_ENUM(rounding, nearest, toward_zero, up_9)

enum class wide : std::int64_t { only };
TROUPE_ENUM(wide, only)

struct owner {
  enum class part { name, value, names, index_of, e };
};
TROUPE_ENUM(owner::part, name, value, names, index_of, e)

enum class other : std::uint8_t { a, b };

namespace {

static_assert(is_known(rounding::up_9) && !is_known(rounding(3)) && !is_known(rounding(255)));
static_assert(to_string(rounding::toward_zero) == "toward_zero" && to_string(rounding(3)) == "unknown");
static_assert(names_of<rounding> == "nearest, toward_zero, up_9" && names_of<wide> == "only");
static_assert(described_enum<owner::part> && !described_enum<other> && !described_enum<int>);

TEST(enumeration, only_enumerators_are_known) {
  EXPECT_EQ(to_string(rounding::nearest), "nearest");
  EXPECT_EQ(to_string(rounding::up_9), "up_9");
  EXPECT_EQ(to_string(owner::part::index_of), "index_of");
  EXPECT_STREQ(to_string(rounding::toward_zero).data(), "toward_zero") << "may be printed with %s";
  EXPECT_STREQ(to_string(rounding(3)).data(), "unknown");
  EXPECT_EQ(to_string(owner::part(5)), "unknown");
  for (const std::int64_t i : {INT64_MIN, std::int64_t{-1}, std::int64_t{1}, std::int64_t{1} << 32, INT64_MAX}) {
    EXPECT_FALSE(is_known(wide(i))) << i;
    EXPECT_EQ(to_string(wide(i)), "unknown") << i;
  }
  EXPECT_TRUE(is_known(wide{}));
}

TEST(enumeration, names_are_joined_for_an_error_text) {
  EXPECT_EQ(one_of<rounding>(), "nearest, toward_zero or up_9");
  EXPECT_EQ(one_of<wide>(), "only");
  EXPECT_EQ(one_of<owner::part>(), "name, value, names, index_of or e");
}

TEST(enumeration, an_enumerator_is_distinguished_from_a_value_without_a_name) {
  EXPECT_TRUE(detail::is_enumerator<other::b>());
  EXPECT_FALSE(detail::is_enumerator<other(2)>());
  EXPECT_TRUE(detail::is_enumerator<rounding::up_9>());
  EXPECT_FALSE(detail::is_enumerator<rounding(3)>());
}

TEST(enumeration, names_are_found_by_their_index) {
  EXPECT_EQ(nth_name("a, bc,d", 0), "a");
  EXPECT_EQ(nth_name("a, bc,d", 1), "bc");
  EXPECT_EQ(nth_name("a, bc,d", 2), "d");
  EXPECT_EQ(nth_name("a, bc,d", 3), "");
  EXPECT_EQ(nth_name("", 0), "");
}

}  // namespace
}  // namespace troupe::enumeration_tests
