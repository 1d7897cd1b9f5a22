// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/cli/command_line.hpp>

namespace troupe::apps {
namespace {

constexpr option options[] = {{"library", "", "only this one"},
                              {"--json", "", "one document"},
                              {"--seconds", "N", "how long: {}. Longer is better", {1, 10, 5}},
                              {"--engines", "FOLDER", "where they are"},
                              {"--device", "D", "which one"}};

constexpr grammar known{.command = "troupe test",
                        .options = options,
                        .words = 1,
                        .usage = "[library] [option...]",
                        .about = "Tests.\n",
                        .more = "  troupe test --json\n"};

result<command_line> parsed(std::vector<const char*> arguments) { return command_line::parse(known, arguments); }

void expect_refused(std::vector<const char*> arguments, std::string_view words) {
  const auto c = parsed(arguments);
  ASSERT_FALSE(c);
  EXPECT_NE(c.error().text().find(words), std::string::npos) << c.error().text();
}

TEST(command_line, accepts_options_words_and_values_in_any_order) {
  const auto c = parsed({"--seconds", "3", "blas", "--engines=/a", "--json", "--engines", "/b"});
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_TRUE(c->has("--json"));
  EXPECT_FALSE(c->has("--help"));
  EXPECT_EQ(*c->number("--seconds"), 3);
  EXPECT_EQ(c->words(), std::vector<std::string_view>{"blas"});
  EXPECT_EQ(c->values("--engines"), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(c->value("--engines"), "/b");
}

TEST(command_line, uses_defaults_for_missing_options) {
  const auto c = parsed({});
  ASSERT_TRUE(c);
  EXPECT_EQ(*c->number("--seconds"), 5);
  EXPECT_FALSE(c->value("--engines"));
}

TEST(command_line, suggests_the_intended_option_for_a_mistyped_one) {
  expect_refused({"--jsno"}, "there is no option --jsno; did you mean --json?");
  expect_refused({"--second=3"}, "did you mean --seconds?");
  expect_refused({"--hlep"}, "did you mean --help?");
  expect_refused({"--zyx"}, "troupe test --help lists them");
  expect_refused({"-x"}, "there is no option -x");
}

TEST(command_line, refuses_missing_and_surplus_values) {
  expect_refused({"--seconds"}, "--seconds needs a value");
  expect_refused({"--json=1"}, "--json takes no value");
  expect_refused({"one", "two"}, "\"two\" is one argument too many");
}

TEST(command_line, refuses_numbers_out_of_range_and_values_that_are_not_numbers) {
  for (const char* bad :
       {"--seconds=0", "--seconds=11", "--seconds=three", "--seconds=", "--seconds=3s", "--seconds=nan"}) {
    const auto seconds = parsed({bad})->number("--seconds");
    ASSERT_FALSE(seconds) << bad;
    EXPECT_NE(seconds.error().text().find("expected a number from 1 to 10"), std::string::npos);
  }
  EXPECT_FALSE(parsed({"--seconds=1e999"})->number("--seconds"));
  EXPECT_EQ(*parsed({"--seconds=3"})->count("--seconds"), 3);
  for (const char* bad : {"--seconds=3.5", "--seconds=11", "--seconds=", "--seconds=99999999999"}) {
    const auto seconds = parsed({bad})->count("--seconds");
    ASSERT_FALSE(seconds) << bad;
    EXPECT_NE(seconds.error().text().find("expected a whole number from 1 to 10"), std::string::npos);
  }
}

TEST(command_line, suggests_the_word_with_the_fewest_changes) {
  static constexpr std::string_view known[] = {"doctor", "demo", "bench", "version"};
  EXPECT_EQ(nearest("docter", known), "doctor");
  EXPECT_EQ(nearest("dmeo", known), "demo");
  EXPECT_EQ(nearest("ver", known), "version");
  EXPECT_EQ(nearest("benchmark", known), "bench");
  EXPECT_EQ(nearest("qqqqq", known), "");
  EXPECT_EQ(nearest("", known), "");
  static constexpr std::string_view short_ones[] = {"jit", "ask"};
  EXPECT_EQ(nearest("fft", short_ones), "");
  EXPECT_EQ(nearest("aks", short_ones), "ask");
}

TEST(command_line, does_not_suggest_a_word_that_shares_half_its_letters) {
  static constexpr std::string_view known[] = {"copy", "copy.back", "ask", "--json"};
  EXPECT_EQ(nearest("copy.bak", known), "copy.back");
  EXPECT_EQ(nearest("nope", known), "");
  EXPECT_EQ(nearest("cpoy", known), "copy");
  EXPECT_EQ(nearest("copying", known), "copy");
  EXPECT_EQ(nearest("--jail", known), "") << "dashes do not count as letters";
}

TEST(command_line, lists_every_option_that_it_accepts_in_its_help) {
  EXPECT_EQ(help_text(known), R"(troupe test [library] [option...]
Tests.

  library           only this one
  --json            one document
  --seconds N       how long: 1 to 10; 5 by default. Longer is better
  --engines FOLDER  where they are
  --device D        which one
  --help            this text

  troupe test --json
)");
}

TEST(command_line, wraps_long_help_lines_below_their_text) {
  static constexpr option one[] = {{"--long", "",
                                    "a text that is so long that it does not fit into one line of the "
                                    "help, which has a hundred and twenty columns and no more"}};
  EXPECT_NE(help_text({.command = "troupe test", .options = one})
                .find("which has a hundred and twenty columns\n          and no more\n"),
            std::string::npos)
      << help_text({.command = "troupe test", .options = one});
}

TEST(command_line, parses_a_device_as_engine_and_number) {
  const auto named = [](const char* text) { return *parsed({"--device", text})->device("--device"); };
  EXPECT_EQ(*parsed({})->device("--device"), named_device{});
  EXPECT_EQ(named("host"), named_device{});
  EXPECT_EQ(named("cuda:3"), (named_device{"cuda", 3}));
  EXPECT_EQ(named("cuda"), (named_device{"cuda", 0}));
  EXPECT_EQ(named("cuda").text(), "cuda:0");
  EXPECT_EQ(named("host").text(), "host");
}

TEST(command_line, refuses_invalid_device_names) {
  for (const char* text :
       {"", ":0", "cuda:", "cuda:x", "cuda:-1", "cuda:0:1", "cuda 0", "host:1", "../cuda:0", "gpu", "gpu:0"}) {
    const auto d = parsed({"--device", text})->device("--device");
    ASSERT_FALSE(d) << text;
    EXPECT_NE(d.error().text().find("as in cuda:0"), std::string::npos) << d.error().text();
  }
  EXPECT_EQ(parsed({"--device=gpu"})->device("--device").error().text(),
            "troupe test: --device is \"gpu\", and no engine is called gpu; expected host, or an engine and the number "
            "of its "
            "device, as in cuda:0");
}

}  // namespace
}  // namespace troupe::apps
