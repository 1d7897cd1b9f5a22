// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/cli/json.hpp>
#include <limits>

namespace troupe::apps {
namespace {

TEST(json_writer, separates_and_indents_objects_and_arrays) {
  json_writer out;
  out.begin_object().member("name", "x").member("count", 3).member("share", 0.5).member("good", true);
  out.key("list").begin_array().value("a").begin_object().end_object().end_array();
  out.key("none").null().end_object();
  EXPECT_EQ(out.text(),
            "{\n  \"name\": \"x\",\n  \"count\": 3,\n  \"share\": 0.5,\n  \"good\": true,\n"
            "  \"list\": [\n    \"a\",\n    {}\n  ],\n  \"none\": null\n}\n");
}

std::string written(std::string_view text) {
  json_writer out;
  std::string all = out.value(text).text();
  all.pop_back();
  return all;
}

TEST(json_writer, escapes_any_text_into_a_valid_string) {
  EXPECT_EQ(written("say \"\\\""), R"("say \"\\\"")");
  EXPECT_EQ(written("a\nb\tc\x1b"), R"("a\nb\u0009c\u001b")");
  EXPECT_EQ(written("µs → 𝄞"), "\"µs → 𝄞\"");
  EXPECT_EQ(written("a\xff\xc3"), R"("a\ufffd\ufffd")");
  EXPECT_EQ(written("\xc0\xaf"), R"("\ufffd\ufffd")") << "an overlong slash";
  EXPECT_EQ(written("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "half of a pair";
}

TEST(json_writer, writes_null_for_numbers_outside_json) {
  json_writer out;
  out.begin_array().value(std::numeric_limits<double>::infinity()).value(-0.25).end_array();
  EXPECT_EQ(out.text(), "[\n  null,\n  -0.25\n]\n");
}

}  // namespace
}  // namespace troupe::apps
