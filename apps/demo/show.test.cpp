// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/demo/show.hpp>
#include <sstream>

namespace demo {
namespace {

// Returns a run of two seconds, after which as many answers arrive again, to questions from the two seconds.
run_record overloaded() {
  run_record run{.seconds = 2, .last_answer_s = 4.25, .batches = 100, .most_memory_bytes = 1 << 20};
  latencies all;
  for (int i = 0; i < 80'000; ++i) all.add(1'000'000);
  run.by_kind[0] = {"8 blocking threads", latency_counts(all), 80'000};
  run.by_kind[2] = {"open loop", latency_counts(all), 20'000};
  return run;
}

// Returns the columns of the first line that begins with the name.
std::vector<std::string> row(const std::string& table, const std::string& name) {
  std::vector<std::string> cells;
  std::istringstream rest(table.substr(table.find("  " + name) + 2 + name.size()));
  std::string line;
  std::getline(rest, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) cells.push_back(word);
  return cells;
}

TEST(show, counts_only_answers_in_time_in_rates) {
  const std::string text = table(overloaded(), {});
  EXPECT_EQ(row(text, "8 blocking threads")[3], "40,000") << text;
  EXPECT_EQ(row(text, "open loop")[0], "80,000") << text;
  EXPECT_EQ(row(text, "open loop")[3], "10,000") << text;
  EXPECT_EQ(row(text, "all")[3], "50,000") << text;
  char flops[32];
  std::snprintf(flops, sizeof flops, "; %.1f GFLOP/s;", 50'000 * shape::flops_of_one / 1e9);
  EXPECT_NE(text.find(flops), text.npos) << text;
}

TEST(show, reports_late_answers) {
  run_record run = overloaded();
  const std::string text = table(run, {});
  EXPECT_NE(text.find("60,000 of the answers came late, the last 2.25 s after the end"), text.npos) << text;
  run.last_answer_s = 2.01;
  EXPECT_EQ(table(run, {}).find("late"), text.npos) << "answers to questions outstanding at the end are not late";
}

TEST(show, reports_faults_with_the_time_to_recovery) {
  run_record run = overloaded();
  EXPECT_EQ(table(run, {}).find("fault"), std::string::npos) << "there were none";
  run.events = {{0.5, 0.512, "kill -9"}, {1.25, 1.375, "endless kernel"}};
  run.repeated = 3;
  const std::string text = table(run, {});
  for (const char* word :
       {"2 faults meanwhile", "at  0.50 s   kill -9", "12.0 ms", "endless kernel", "125 ms", "3 batches were lost"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  for (int i = 0; i < 20; ++i) run.events.push_back({2. + i, 2.01 + i + 0.001 * i, "exit"});
  EXPECT_NE(table(run, {}).find("and 10 more: half within 25.0 ms, the longest 29.0 ms"), std::string::npos)
      << table(run, {});
  EXPECT_NE(json(run, {}, "", true).find("\"repeated_batches\": 3"), std::string::npos);
}

TEST(show, shows_answers_after_the_end_and_pauses_in_the_live_line) {
  const auto line = [](double at_s, double rate = 0) {
    const moment now{.at_s = at_s, .answers_per_s = {rate}, .p50_s = 0.001, .p99_s = 0.002};
    const std::vector<moment> before;
    const troupe::apps::terminal plain;
    testing::internal::CaptureStdout();
    const standing s{now, 2, 100, 0, 0, 5000, 1 << 20, before};
    troupe::apps::progress(plain).show(at_s, progress_text(s, plain));
    std::fflush(stdout);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_TRUE(line(2.001).starts_with("    2.0 of 2 s")) << line(2.001);
  EXPECT_TRUE(line(3).starts_with("    3.0 s, all asked")) << line(3);
  const std::string none = line(1), some = line(1, 1000);
  EXPECT_NE(none.find("no answer just now"), none.npos) << none;
  EXPECT_EQ(none.find("p50"), none.npos) << none;
  EXPECT_NE(some.find("p50 1.00 ms  p99 2.00 ms"), some.npos) << some;
  EXPECT_EQ(none.size(), some.size());
}

TEST(show, writes_its_figures_as_json) {
  const std::string text = json(overloaded(), {}, "", true);
  const std::string all = text.substr(text.find("\"all\""));
  EXPECT_NE(all.find("\"late\": 60000"), all.npos) << all;
  EXPECT_NE(all.find("\"per_second\": 50000"), all.npos) << all;
  EXPECT_NE(text.find("\"last_answer_seconds\": 4.25"), text.npos) << text;
}

}  // namespace
}  // namespace demo
