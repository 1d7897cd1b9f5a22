// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/cli/terminal.hpp>

namespace troupe::apps {
namespace {

TEST(terminal, writes_plain_ascii_to_files) {
  std::FILE* const file = std::tmpfile();
  const terminal t = terminal::of(file);
  std::fclose(file);
  EXPECT_FALSE(t.can().live);
  for (const std::string& text : {t.bold("x"), t.good("x"), t.bad("x"), t.warning("x"), t.faint("x")})
    EXPECT_EQ(text, "x");
  for (const std::string& text : {t.good_mark(), t.bad_mark(), t.warning_mark(), t.arrow(), t.micro(), t.separator()})
    for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << text;
}

TEST(terminal, formats_amounts_with_three_significant_digits_and_a_unit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(24.7e9), "23.0 GiB");
  const terminal t;
  EXPECT_EQ(time_text(t, 12.34), "12.3 s");
  EXPECT_EQ(time_text(t, 0.0456), "45.6 ms");
  EXPECT_EQ(time_text(t, 0.00000789), "7.89 us");
}

TEST(terminal, wraps_text_at_blanks) {
  EXPECT_EQ(wrapped("one two three", 7, "  "), "one two\n  three");
  EXPECT_EQ(wrapped("incomprehensible", 4, ""), "incomprehensible");
  EXPECT_EQ(wrapped("", 4, ""), "");
}

}  // namespace
}  // namespace troupe::apps
