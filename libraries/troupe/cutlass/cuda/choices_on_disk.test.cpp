// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <troupe/cutlass/cuda/choices_on_disk.hpp>

namespace troupe::cutlass {
namespace {

TEST(choices_on_disk, are_forgotten_when_the_plug_in_changes_or_comes_or_goes) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("troupe_choices." + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const char* const before = std::getenv("TROUPE_CACHE");
  const std::string was = before == nullptr ? "" : before;
  ::setenv("TROUPE_CACHE", (folder / "cache").c_str(), 1);
  const std::string plug_in = folder / "vendor.so";
  std::string remarks;
  choices_on_disk choices([&](const std::string& text) { remarks += text; }, plug_in);
  if (before == nullptr)
    ::unsetenv("TROUPE_CACHE");
  else
    ::setenv("TROUPE_CACHE", was.c_str(), 1);

  choices.keep("without", 1);
  EXPECT_EQ(choices.find<int>("without"), 1);
  std::ofstream(plug_in) << "kernels";
  EXPECT_EQ(choices.find<int>("without"), std::nullopt);
  choices.keep("with", 2);
  EXPECT_EQ(choices.find<int>("with"), 2);
  EXPECT_EQ(choices.find<int>("another"), std::nullopt);
  std::ofstream(plug_in) << "more kernels";
  EXPECT_EQ(choices.find<int>("with"), std::nullopt);
  choices.keep("with", 3);
  std::filesystem::remove(plug_in);
  EXPECT_EQ(choices.find<int>("with"), std::nullopt);
  EXPECT_EQ(remarks, "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace troupe::cutlass
