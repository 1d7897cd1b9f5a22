// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <troupe/worker/internal/engines.hpp>

namespace troupe {
namespace {

namespace fs = std::filesystem;

// Looking into folders for each request of a library that is not there would stop everything else.
TEST(engines, are_looked_for_once) {
  char name[] = "/tmp/troupe-engines-XXXXXX";
  const fs::path folder = ::mkdtemp(name);
  engine_set engines("host", {folder}, {});
  const auto first = engines.find(library_code("late"), 1);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().reaction(), reaction::unsupported);
  std::ofstream(folder / "late.host.so") << "no shared object, and another error were it found\n";
  const auto second = engines.find(library_code("late"), 2);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().text(), first.error().text());
  fs::remove_all(folder);
}

TEST(engines, that_are_missing_are_told_with_file_folders_and_what_is_there) {
  char name[] = "/tmp/troupe-engines-XXXXXX";
  const fs::path folder = ::mkdtemp(name);
  for (const char* file : {"memory.host.so", "memory.cuda.so", "late.cuda.so", "libother.so"})
    std::ofstream(folder / file) << "no shared object\n";
  const auto expect = [&](const error& e, std::initializer_list<std::string> words) {
    EXPECT_EQ(e.reaction(), reaction::unsupported);
    for (const std::string& word : words) EXPECT_NE(e.text().find(word), std::string::npos) << word << "\n" << e.text();
  };
  engine_set metal("metal", {folder, "/nowhere"}, {});
  expect(metal.load("memory").error(), {"memory.metal.so in " + folder.string() + ", /nowhere",
                                        "no engine for backend \"metal\" here; backends here: cuda, host."});
  engine_set host("host", {folder}, {});
  expect(host.find(library_code("late"), 1).error(),
         {"library late: no engine late.host.so in " + folder.string(), "the host backend has: memory;",
          "backends that have late: cuda", "engine_folders"});
  expect(host.find(library_code("mine"), 1).error(), {"<library>.host.so in " + folder.string(), "engine_folders"});
  fs::remove_all(folder);
}

}  // namespace
}  // namespace troupe
