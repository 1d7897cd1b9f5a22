// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bench/gpu/raw_side.hpp>
#include <bench/measures.hpp>
#include <bench/report.hpp>
#include <set>

namespace troupe::bench {
namespace {

constexpr measure twice{.name = "twice",
                        .unit = "ns",
                        .ours = "ours",
                        .raw = "the \"raw\" one",
                        .goal = {goal::kind::ratio_at_most, 2},
                        .run = nullptr};

const result<figures> good = figures{.ours = 3, .raw = 2}, slow = figures{.ours = 5, .raw = 2},
                      wrong = figures{.ours = 3, .raw = 2, .objection = "the products are \"wrong\""},
                      second = figures{.ours = 3, .raw = 2, .missed = "too slow alone"},
                      none = error(reaction::unsupported, "bench", "no C++ compiler");

int exit_code(const result<figures>& found, bool check) {
  summary all;
  all.add(twice, good);
  all.add(twice, found);
  return all.exit_code(check);
}

TEST(bench_report, measures_that_did_not_run_or_are_invalid_fail_with_or_without_check) {
  for (const bool check : {false, true}) {
    EXPECT_EQ(exit_code(good, check), 0);
    EXPECT_EQ(exit_code(wrong, check), 1);
    EXPECT_EQ(exit_code(none, check), 1);
    EXPECT_EQ(exit_code(slow, check), check ? 1 : 0);
    EXPECT_EQ(exit_code(second, check), check ? 1 : 0);
  }
}

TEST(bench_report, the_last_line_counts_unmet_goals) {
  summary all;
  all.add(twice, good);
  EXPECT_EQ(all.text(), "1 of 1 goal met");
  for (const auto* found : {&slow, &wrong, &second, &none}) all.add(twice, *found);
  EXPECT_EQ(all.text(), "1 of 5 goals met, 1 not run, 1 invalid");
}

TEST(bench_report, the_json_output_says_why_a_measure_is_not_ok) {
  const std::string begin = R"({"name":"twice","ours":3,"raw":2,"unit":"ns","ratio":1.5,"goal":"ratio <= 2","ok":)";
  EXPECT_EQ(json_line(twice, good), begin + "true,\"why\":null}\n");
  EXPECT_EQ(json_line(twice, wrong), begin + "false,\"why\":\"the products are \\\"wrong\\\"\"}\n");
  EXPECT_EQ(json_line(twice, second), begin + "false,\"why\":\"too slow alone\"}\n");
  EXPECT_EQ(json_line(twice, none), R"({"name":"twice","ours":null,"raw":null,"unit":"ns","ratio":null,)"
                                    R"("goal":"ratio <= 2","ok":false,"why":"not run: no C++ compiler"})"
                                    "\n");
  EXPECT_EQ(json_line(twice),
            R"({"name":"twice","unit":"ns","ours":"ours","raw":"the \"raw\" one","goal":"ratio <= 2"})"
            "\n");
}

TEST(bench_report, a_goal_can_be_an_amount_above_the_raw_figure) {
  const goal two_more{goal::kind::at_most_above_raw, 2};
  EXPECT_EQ(two_more.text("us"), "ours <= raw + 2 us");
  EXPECT_TRUE(two_more.met({.ours = 9, .raw = 7}));
  EXPECT_FALSE(two_more.met({.ours = 9.1, .raw = 7}));
  EXPECT_FALSE(two_more.met({.ours = 1, .raw = 0})) << "there is nothing to compare with";
  EXPECT_FALSE(two_more.met({.ours = 8, .raw = 7, .missed = "a second goal"}));
}

TEST(bench_report, a_measure_without_a_goal_is_ok_unless_its_figures_are_invalid) {
  constexpr goal none{goal::kind::none};
  EXPECT_EQ(none.text("ns"), "none");
  EXPECT_TRUE(none.met({.ours = 1, .raw = 0}));
  EXPECT_FALSE(none.met({.ours = 1, .objection = "the loss does not decrease"}));
}

TEST(bench_report, a_goal_of_zero_is_met_only_by_zero) {
  const goal none_wrong{goal::kind::ours_at_most, 0};
  EXPECT_TRUE(none_wrong.met({.ours = 0}));
  EXPECT_FALSE(none_wrong.met({.ours = 1}));
}

TEST(bench_report, names_distinguish_measures_of_the_host_and_of_gpus) {
  std::set<std::string_view> names;
  for (const std::string_view engine : {"host", "cuda"})
    for (const measure& m : measures(engine)) EXPECT_TRUE(names.insert(m.name).second) << m.name << " occurs twice";
  for (const measure& m : measures("host")) EXPECT_FALSE(m.name.starts_with("gpu.")) << m.name;
}

TEST(bench_raw_side, the_error_names_a_missing_plug_in) {
  try {
    const raw_side raw({.runtime_folder = "/there/is/no/such/folder", .engine = "cuda"});
    FAIL() << "the plug-in was loaded";
  } catch (const bad_result& none) {
    EXPECT_EQ(none.error().reaction(), reaction::unsupported);
    EXPECT_NE(none.error().text().find("/there/is/no/such/folder/bench/raw.cuda.so"), std::string::npos)
        << none.error().text();
  }
}

}  // namespace
}  // namespace troupe::bench
