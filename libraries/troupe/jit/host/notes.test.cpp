// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <troupe/jit/host/command.hpp>
#include <troupe/jit/host/notes.hpp>

namespace troupe::jit {
namespace {

class jit_notes : public testing::Test {
 protected:
  jit_notes() { ::setenv("TROUPE_CXX", (folder_.path() + "/c++").c_str(), 1); }
  ~jit_notes() override {
    ::unsetenv("TROUPE_CXX");
    ::unsetenv("TROUPE_CACHE");
  }
  void compiler_that(const std::string& does) const {
    const std::string path = folder_.path() + "/c++";
    std::ofstream(path) << "#!/bin/sh\n" << does << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  // Returns the line with this key, or all lines if there is none.
  std::string note(const std::string& key, const plan::disk_cache& cache) const {
    const std::string all = notes_of({.compiler_guard = TROUPE_COMPILER_GUARD, .cuda_folder = {}}, cache);
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(key + ": ")) return line.substr(key.size() + 2);
    return "no line " + key + " in " + all;
  }

  plan::private_folder folder_ = plan::private_folder::make().value();
};

TEST_F(jit_notes, name_the_compiler_and_its_version) {
  compiler_that("echo 'c++ 12.2\nCopyright'");
  EXPECT_EQ(note("compiler", plan::disk_cache("")), folder_.path() + "/c++, c++ 12.2");
}

TEST_F(jit_notes, say_why_no_compiler_was_found) {
  EXPECT_TRUE(note("compiler", plan::disk_cache("")).starts_with("none: TROUPE_CXX is "))
      << note("compiler", plan::disk_cache(""));
  compiler_that("echo no licence; exit 1");
  const std::string text = note("compiler", plan::disk_cache(""));
  EXPECT_TRUE(text.starts_with("none: the compiler ")) << text;
  EXPECT_NE(text.find("no licence"), text.npos) << text;
}

TEST_F(jit_notes, say_where_the_cache_is_and_how_full) {
  compiler_that("echo c++ 12.2");
  plan::disk_cache cache(folder_.path() + "/cache", 8 << 20);
  EXPECT_EQ(note("cache", cache), folder_.path() + "/cache");
  EXPECT_EQ(note("cache size", cache), "0 entries, 0.0 of at most 8 MiB");
  ASSERT_EQ(cache.store("a", {}, std::string(3 << 19, 'x')), "");
  EXPECT_EQ(note("cache size", cache), "1 entry, 1.5 of at most 8 MiB");
}

TEST_F(jit_notes, say_why_no_cache_is_used) {
  compiler_that("echo c++ 12.2");
  EXPECT_TRUE(note("cache", plan::disk_cache("")).starts_with("none: set TROUPE_CACHE"))
      << note("cache", plan::disk_cache(""));
  ::setenv("TROUPE_CACHE", "off", 1);
  EXPECT_EQ(note("cache", plan::disk_cache("")), "off, because TROUPE_CACHE is off");
  EXPECT_EQ(note("cache", plan::disk_cache(folder_.path() + "/c++")),
            "none: cannot open the folder " + folder_.path() + "/c++: Not a directory");
}

}  // namespace
}  // namespace troupe::jit
