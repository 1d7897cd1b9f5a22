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

}  // namespace
}  // namespace troupe
