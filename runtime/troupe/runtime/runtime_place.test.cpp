// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <troupe/runtime/runtime_place.hpp>

namespace troupe {
namespace {

namespace fs = std::filesystem;

class runtime_place_test : public ::testing::Test {
 protected:
  runtime_place_test() {
    char name[] = "/tmp/troupe-place-XXXXXX";
    root_ = ::mkdtemp(name);
    ::unsetenv("TROUPE_RUNTIME");
  }
  ~runtime_place_test() override {
    ::unsetenv("TROUPE_RUNTIME");
    fs::remove_all(root_);
  }
  // Makes a tree with a worker, and returns the worker's folder.
  std::string install(const std::string& tree) const {
    const fs::path folder = root_ / tree / "libexec/troupe";
    fs::create_directories(folder);
    std::ofstream(folder / "troupe-worker") << "worker";
    return folder;
  }
  std::string program() const { return root_ / "service/bin/service"; }

  fs::path root_;
};

TEST_F(runtime_place_test, prefers_the_programs_own_tree_to_the_one_it_was_built_with) {
  const std::string built = install("built");
  EXPECT_EQ(find_runtime("", program(), built).folder, built) << "the program has no tree yet";
  const std::string own = install("service");
  EXPECT_EQ(find_runtime("", program(), built).folder, own);
  EXPECT_EQ(find_runtime("", program(), root_ / "built/include/troupe/runtime/runtime.hpp").folder, own);
}

TEST_F(runtime_place_test, prefers_the_option_and_then_the_environment) {
  const std::string own = install("service");
  ::setenv("TROUPE_RUNTIME", "/set", 1);
  EXPECT_EQ(find_runtime("/option", program(), "/built").folder, "/option");
  EXPECT_EQ(find_runtime("", program(), "/built").folder, "/set");
  ::setenv("TROUPE_RUNTIME", "", 1);
  EXPECT_EQ(find_runtime("", program(), "/built").folder, own);
}

TEST_F(runtime_place_test, finds_the_installation_of_a_header) {
  EXPECT_EQ(find_runtime("", program(), "/opt/troupe/include/troupe/runtime/runtime.hpp").folder,
            "/opt/troupe/libexec/troupe");
}

}  // namespace
}  // namespace troupe
