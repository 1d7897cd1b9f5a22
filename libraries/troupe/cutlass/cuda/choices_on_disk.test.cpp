// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <troupe/cutlass/cuda/choices_on_disk.hpp>

namespace troupe::cutlass {
namespace {

TEST(cutlass_choices_on_disk, choices_are_shared_by_processes_with_the_same_plug_in) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("troupe_choices." + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const char* const before = std::getenv("TROUPE_CACHE");
  const std::string was = before == nullptr ? "" : before;
  ::setenv("TROUPE_CACHE", (folder / "cache").c_str(), 1);
  std::string remarks;
  // Returns the choices as a process that begins now opens them.
  const auto opened = [&](const std::string& plug_in) {
    return std::make_unique<choices_on_disk>([&](const std::string& text) { remarks += text; }, folder / plug_in);
  };
  opened("one.so")->keep("key", 1);
  EXPECT_EQ(opened("one.so")->find<int>("key"), 1);
  EXPECT_EQ(opened("one.so")->find<int>("another"), std::nullopt);
  std::ofstream(folder / "one.so") << "kernels";
  EXPECT_EQ(opened("one.so")->find<int>("key"), std::nullopt);
  const auto first = opened("one.so");
  first->keep("key", 2);
  EXPECT_EQ(opened("one.so")->find<int>("key"), 2);
  std::ofstream(folder / "other.so") << "kernels";
  EXPECT_EQ(opened("other.so")->find<int>("key"), std::nullopt);
  std::ofstream(folder / "one.so") << "more kernels";
  EXPECT_EQ(opened("one.so")->find<int>("key"), std::nullopt);
  EXPECT_EQ(first->find<int>("key"), 2) << "its process began before the plug-in changed";
  EXPECT_EQ(remarks, "");
  if (before == nullptr)
    ::unsetenv("TROUPE_CACHE");
  else
    ::setenv("TROUPE_CACHE", was.c_str(), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace troupe::cutlass
