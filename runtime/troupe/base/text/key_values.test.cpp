// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>
#include <troupe/base/text/key_values.hpp>

namespace troupe {
namespace {

using enum key_values;

TEST(value_of, finds_a_value_after_blanks) {
  const std::string text = "name  NVIDIA H200\nmemory 150\nname another\n";
  EXPECT_EQ(value_of(text, "name", blank_between), "NVIDIA H200");
  EXPECT_EQ(value_of(text, "memory", blank_between), "150");
  EXPECT_EQ(value_of(text, "driver", blank_between), "");
}

TEST(value_of, finds_a_value_after_a_colon) {
  const std::string text = "model name\t: Intel(R) Xeon(R)\nflags:fma avx2\nempty :\n";
  EXPECT_EQ(value_of(text, "model name", colon_between), "Intel(R) Xeon(R)");
  EXPECT_EQ(value_of(text, "flags", colon_between), "fma avx2");
  EXPECT_EQ(value_of(text, "empty", colon_between), "");
}

TEST(value_of, ignores_a_longer_key_with_the_same_start) {
  EXPECT_EQ(value_of("memory_used 5\nmemory 7\n", "memory", blank_between), "7");
  EXPECT_EQ(value_of("model\t: 143\nmodel name\t: A\n", "model name", colon_between), "A");
  EXPECT_EQ(value_of("model name\t: A\nmodel\t: 143\n", "model", colon_between), "143");
}

TEST(value_of, reads_no_further_than_the_line_that_has_the_key) {
  std::istringstream lines("MemTotal: 5 kB\nMemFree: 4 kB\n");
  EXPECT_EQ(value_of(lines, "MemTotal", colon_between), "5 kB");
  EXPECT_EQ(value_of(lines, "MemFree", colon_between), "4 kB");
}

TEST(number_of, reads_the_number_at_the_beginning) {
  EXPECT_EQ(number_of("16320908 kB"), 16320908u);
  EXPECT_EQ(number_of("  32.0 GT/s PCIe"), 32u);
  EXPECT_EQ(number_of("18446744073709551615"), UINT64_MAX);
}

TEST(number_of, is_0_if_the_text_does_not_start_with_a_number_below_2_to_the_64) {
  for (const char* text : {"", " ", "x16", "-5", "18446744073709551616"}) EXPECT_EQ(number_of(text), 0u) << text;
}

}  // namespace
}  // namespace troupe
