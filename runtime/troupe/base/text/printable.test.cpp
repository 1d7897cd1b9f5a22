// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/base/text/printable.hpp>

namespace troupe {
namespace {

std::string printable(std::string text) {
  make_printable(text);
  return text;
}

TEST(printable, keeps_text_and_newlines) {
  for (const char* const text : {"", "plain\ttext\n", "\u00a0\u00fc\u07ff", "\u0800 \u20ac \uffff", "\U0001f600"})
    EXPECT_EQ(printable(text), text);
}

TEST(printable, replaces_control_characters) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f\r\x01"), "a?[2Jb???");
  EXPECT_EQ(printable("\xc2\x9b\x32J"), "??2J") << "U+009B begins a sequence as escape and a bracket do";
  EXPECT_EQ(printable("\x9b\x32J"), "?2J");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
}

TEST(printable, replaces_bytes_that_are_not_utf_8) {
  EXPECT_EQ(printable("\xc0\x8a"), "??") << "an overlong line end";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "???") << "an overlong control character";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last character";
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("cut \xe2\x82"), "cut ??");
  EXPECT_EQ(printable("\xe2\x82x"), "??x");
}

}  // namespace
}  // namespace troupe
