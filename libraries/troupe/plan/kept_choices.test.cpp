// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/plan/kept_choices.hpp>
#include <troupe/plan/private_folder.hpp>
#include <vector>

namespace troupe::plan {
namespace {

class plan_kept_choices : public ::testing::Test {
 protected:
  // Opens the choices, as a process that starts now would.
  std::unique_ptr<kept_choices> opened(kept_choices::settings s) {
    if (!s.depends_on.empty()) s.depends_on = place(s.depends_on);
    return std::make_unique<kept_choices>(remarks_, std::move(s));
  }
  std::unique_ptr<kept_choices> opened_with(const std::string& library) {
    return opened({.folder = cache_, .depends_on = library});
  }
  std::string place(const std::string& name) const { return folder_.path() + "/" + name; }

  const private_folder folder_ = private_folder::make().value();
  const std::string cache_ = place("cache");
  std::string said_;
  remarks remarks_{[this](const std::string& text) { said_ += text; }};
};

TEST_F(plan_kept_choices, choices_are_found_until_the_file_that_they_depend_on_changes) {
  opened_with("one.so")->keep_value("key", 1);
  EXPECT_EQ(opened_with("one.so")->find_value<int>("key"), 1);
  EXPECT_EQ(opened_with("one.so")->find_value<int>("another"), std::nullopt);
  std::ofstream(place("one.so")) << "kernels";
  EXPECT_EQ(opened_with("one.so")->find_value<int>("key"), std::nullopt);
  opened_with("one.so")->keep_value("key", 2);
  EXPECT_EQ(opened_with("one.so")->find_value<int>("key"), 2);
  std::ofstream(place("one.so")) << "more kernels";
  EXPECT_EQ(opened_with("one.so")->find_value<int>("key"), std::nullopt);
  EXPECT_EQ(said_, "");
}

TEST_F(plan_kept_choices, choices_of_a_file_are_not_found_for_an_equal_file) {
  for (const char* name : {"one.so", "other.so"}) std::ofstream(place(name)) << "kernels";
  opened_with("one.so")->keep_value("key", 1);
  EXPECT_EQ(opened_with("one.so")->find_value<int>("key"), 1);
  EXPECT_EQ(opened_with("other.so")->find_value<int>("key"), std::nullopt);
  EXPECT_EQ(said_, "");
}

TEST_F(plan_kept_choices, choices_that_were_opened_before_their_file_changed_are_found_in_memory) {
  std::ofstream(place("one.so")) << "kernels";
  const auto first = opened({.folder = cache_, .depends_on = "one.so", .in_memory = true});
  first->keep_value("key", 2);
  EXPECT_EQ(opened_with("one.so")->find_value<int>("key"), 2);
  std::ofstream(place("one.so")) << "more kernels";
  EXPECT_EQ(first->find_value<int>("key"), 2);
  EXPECT_EQ(said_, "");
}

TEST_F(plan_kept_choices, choices_without_a_folder_are_found_only_if_they_are_kept_in_memory) {
  for (const bool in_memory : {false, true}) {
    const auto choices = opened({.folder = "", .in_memory = in_memory});
    choices->keep("key", "a plan");
    EXPECT_EQ(choices->find("key"), in_memory ? std::optional<std::string>("a plan") : std::nullopt);
  }
  EXPECT_EQ(said_, "");
}

TEST_F(plan_kept_choices, a_choice_of_another_size_is_not_found) {
  opened({.folder = cache_})->keep_value("key", std::int64_t{1});
  EXPECT_EQ(opened({.folder = cache_})->find_value<int>("key"), std::nullopt);
}

TEST_F(plan_kept_choices, provisional_choices_expire) {
  const auto days = [](std::int64_t ago) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return cat(std::chrono::duration_cast<std::chrono::days>(now).count() - ago, "\n");
  };
  const auto choices = opened({.folder = cache_});
  disk_cache disk(cache_);
  EXPECT_FALSE(choices->find("key"));
  choices->keep_provisionally("key", "");
  EXPECT_EQ(choices->find("key"), "");
  for (const std::int64_t ago : {1, 6, 7, 1000, -2}) {
    EXPECT_EQ(disk.store("key", {}, days(ago) + "a plan"), "");
    EXPECT_EQ(choices->find("key").has_value(), ago >= 0 && ago < kept_choices::provisional_days) << ago;
  }
  choices->keep("key", "a plan");
  EXPECT_EQ(choices->find("key"), "a plan");
  EXPECT_EQ(disk.store("key", {}, "no line"), "");
  EXPECT_FALSE(choices->find("key"));
}

}  // namespace
}  // namespace troupe::plan
