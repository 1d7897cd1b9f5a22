// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/demo/picture/plot.hpp>
#include <apps/demo/picture/svg.hpp>

namespace demo {
namespace {

// Returns a run with all kinds of clients; one of its names must be escaped.
run_record small_run() {
  run_record run{.seconds = 2, .machine = "a <machine>", .service = "cats & dogs"};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    latencies all;
    for (int i = 1; i < 2000; ++i) all.add(i * 1000);
    run.by_kind[k] = {"kind " + std::to_string(k), latency_counts(all), 1000};
  }
  for (int i = 1; i <= 20; ++i) run.moments.push_back({i * 0.1, {100, 200, 300}, 0.001, 0.002});
  return run;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(plot, is_an_svg_picture_that_refers_to_no_other_file) {
  const std::string picture = plot(small_run());
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  for (const char* element : {"text", "title", "desc", "style"})
    EXPECT_EQ(count(picture, std::string("<") + element), count(picture, std::string("</") + element + ">")) << element;
  for (const char* never : {"<script", "href", "@import", "url(", "nan", "inf\""})
    EXPECT_EQ(picture.find(never), picture.npos) << never;
  EXPECT_NE(picture.find("prefers-color-scheme:dark"), picture.npos);
  EXPECT_NE(picture.find("a &lt;machine&gt;"), picture.npos);
  EXPECT_NE(picture.find("cats &amp; dogs"), picture.npos);
  EXPECT_NE(picture.find("1.5 k answers per second"), picture.npos) << "only answers within the 2 seconds count";
}

TEST(plot, draws_an_area_and_a_key_for_each_kind_of_clients_with_answers) {
  run_record run = small_run();
  EXPECT_EQ(count(plot(run), "area k"), 3u);
  run.by_kind[2].right = {};
  const std::string picture = plot(run);
  EXPECT_EQ(count(picture, "area k"), 2u);
  EXPECT_EQ(picture.find("kind 2"), picture.npos);
}

TEST(plot, marks_each_event_and_its_duration) {
  run_record run = small_run();
  EXPECT_EQ(plot(run).find("class=\"event\""), std::string::npos);
  run.events.push_back({0.5, 0.75, "worker killed"});
  const std::string picture = plot(run);
  EXPECT_EQ(count(picture, "class=\"event\""), 2u) << "in both panels over time";
  EXPECT_NE(picture.find("worker killed, 250 ms"), picture.npos);
}

TEST(plot, writes_no_text_over_other_text) {
  run_record run = small_run();
  for (int i = 0; i < 5; ++i) run.events.push_back({0.5 + 0.01 * i, 0.55 + 0.01 * i, "worker killed"});
  const std::string picture = plot(run);
  EXPECT_EQ(count(picture, "class=\"event\""), 10u);
  EXPECT_EQ(count(picture, "worker killed"), 3u) << "one below the other, and only as many as there is room for";
  const std::size_t first = picture.find("class=\"eventtext\""),
                    second = picture.find("class=\"eventtext\"", first + 1);
  const auto height = [&](std::size_t text) {
    const std::size_t y = picture.rfind("y=\"", text);
    return picture.substr(y, picture.find('"', y + 3) - y);
  };
  EXPECT_NE(height(first), height(second));
}

TEST(plot, is_a_valid_picture_for_a_run_without_answers) { EXPECT_TRUE(plot({.seconds = 1}).ends_with("</svg>\n")); }

TEST(scale, maps_numbers_between_its_ends) {
  const scale up{0, 10, 100, 0}, decades{1, 100, 0, 50, true};
  EXPECT_DOUBLE_EQ(up(0), 100);
  EXPECT_DOUBLE_EQ(up(2.5), 75);
  EXPECT_DOUBLE_EQ(decades(10), 25);
  EXPECT_DOUBLE_EQ(decades(0), 0) << "a value without a logarithm is mapped to the edge";
}

TEST(scale, labels_round_numbers_up_to_the_highest) {
  EXPECT_EQ(round_steps(10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_steps(23, 5), (std::vector<double>{0, 5, 10, 15, 20}));
  EXPECT_EQ(powers_of_ten(0.9, 11), (std::vector<double>{1, 2, 5, 10}));
}

}  // namespace
}  // namespace demo
