// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/worker/plugins/engines.hpp>

namespace troupe {
namespace {

namespace fs = std::filesystem;

// A search of the folders for each request of a missing library would delay everything else.
TEST(engines, are_searched_for_only_once_if_they_are_missing) {
  char name[] = "/tmp/troupe-engines-XXXXXX";
  const fs::path folder = ::mkdtemp(name);
  engine_set engines("host", {folder}, {});
  const auto first = engines.find(library_code("late"), 1);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().reaction(), reaction::unsupported);
  std::ofstream(folder / "late.host.so") << "no shared object: another error, if it were found\n";
  const auto second = engines.find(library_code("late"), 2);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().text(), first.error().text());
  fs::remove_all(folder);
}

// Engines that run requests of others find them from any thread.
TEST(engines, find_each_other_while_engines_are_added_and_one_is_reopened) {
  static constexpr std::uint32_t libraries = 40;
  static troupe_engine_operation operations[libraries];
  static int states[libraries];
  std::vector<troupe_engine> all(libraries);
  engine_set engines("host", {}, {});
  const troupe_engine_neighbours* seen = nullptr;
  for (std::uint32_t i = 0; i < libraries; ++i) {
    operations[i] = {};
    operations[i].opcode = 1000 + i;
    all[i] = {.abi = troupe_engine_abi,
              .library = "x",
              .backend = "host",
              .version = "",
              .operations = &operations[i],
              .operation_count = 1,
              .state = &states[i],
              .close = [](const troupe_engine*) {},
              .notes = nullptr};
  }
  seen = engines.neighbours();
  ASSERT_TRUE(engines.add("library 0", all[0]));
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done.load()) {
      troupe_found_operation found{};
      engine_failure why;
      EXPECT_TRUE(seen->find(seen->set, library_code("library 0"), 1000, &found, &why));
      EXPECT_EQ(found.operation, &operations[0]);
      EXPECT_EQ(found.engine, &states[0]);
      EXPECT_FALSE(seen->find(seen->set, library_code("nowhere"), 7, &found, &why));
      EXPECT_EQ(static_cast<reaction>(why.reaction), reaction::unsupported);
    }
  });
  for (std::uint32_t i = 1; i < libraries; ++i) EXPECT_TRUE(engines.add("library " + std::to_string(i), all[i]));
  const std::uint64_t before = seen->openings(seen->set);
  EXPECT_EQ(engines.restart(3), "library 3");
  EXPECT_NE(seen->openings(seen->set), before);
  done.store(true);
  other.join();
  troupe_found_operation found{};
  engine_failure why;
  EXPECT_TRUE(seen->find(seen->set, library_code("library 39"), 1039, &found, &why));
  EXPECT_EQ(found.library, 39u);
  EXPECT_FALSE(seen->find(seen->set, library_code("library 3"), 1003, &found, &why)) << "its engine was closed";
}

TEST(engines, are_reported_with_file_folders_and_alternatives_if_they_are_missing) {
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
  expect(host.load("memory").error(), {"memory.host.so", "the engine's file is damaged; install Troupe again"});
  expect(host.find(library_code("late"), 1).error(),
         {"library late: no engine late.host.so in " + folder.string(), "the host backend has: memory;",
          "backends that have late: cuda", "engine_folders"});
  expect(host.find(library_code("mine"), 1).error(), {"<library>.host.so in " + folder.string(), "engine_folders"});
  fs::remove_all(folder);
}

}  // namespace
}  // namespace troupe
