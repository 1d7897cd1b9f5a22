// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/base/text/fixed_string.hpp>

namespace troupe {
namespace {

template <fixed_string Name>
struct named {
  static constexpr std::string_view name = static_text<Name + ".of">;
};

TEST(fixed_string, can_be_a_template_argument) {
  EXPECT_EQ(static_text<"a name">, "a name");
  EXPECT_EQ(static_text<"">, "");
  EXPECT_EQ(named<"one">::name, "one.of");
  EXPECT_EQ((static_text<fixed_string("a") + "" + fixed_string("b") + "c">), "abc");
}

TEST(fixed_string, is_zero_terminated) { EXPECT_STREQ(named<"one">::name.data(), "one.of"); }

}  // namespace
}  // namespace troupe
