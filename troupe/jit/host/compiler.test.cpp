// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <troupe/jit/host/command.hpp>
#include <troupe/jit/host/compiler.hpp>
#include <troupe/jit/host/dependencies.hpp>

namespace troupe::jit {
namespace {

namespace fs = std::filesystem;

class the_compiler : public testing::Test {
 protected:
  the_compiler() : path_before_(std::getenv("PATH")) {
    ::unsetenv("TROUPE_CXX");
    ::setenv("PATH", (room_.path() + "/none:" + room_.path()).c_str(), 1);
  }
  ~the_compiler() override {
    ::setenv("PATH", path_before_.c_str(), 1);
    ::unsetenv("TROUPE_CXX");
  }
  // A program that answers `text` and counts how often it was asked.
  std::string program(const std::string& name, const std::string& text) {
    const std::string path = room_.path() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\necho asked >> " << room_.path() << "/asked\necho '" << text << "'\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  int times_asked() const {
    std::ifstream f(room_.path() + "/asked");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(f), {}, '\n'));
  }
  static std::string text_of(const result<std::string>& r) { return r ? *r : r.error().text(); }

  private_folder room_ = private_folder::make().value();
  std::string path_before_;
};

TEST_F(the_compiler, is_that_of_the_recipe_else_of_the_environment_else_the_first_in_the_path) {
  const auto none = find_compiler({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reaction(), reaction::unsupported);
  EXPECT_EQ(none.error().text(),
            "jit.compile: the host engine compiles with the system's C++ compiler, and there is no c++, g++ or clang++ "
            "in PATH; install one (Debian: apt install g++), or name one in TROUPE_CXX or recipe::compiler");
  const std::string clang = program("clang++", "clang");
  EXPECT_EQ(text_of(find_compiler({})), clang);
  const std::string gcc = program("g++", "gcc");
  EXPECT_EQ(text_of(find_compiler({})), gcc);
  ::setenv("TROUPE_CXX", "clang++", 1);
  EXPECT_EQ(text_of(find_compiler({})), clang);
  ::setenv("TROUPE_CXX", gcc.c_str(), 1);
  EXPECT_EQ(text_of(find_compiler({})), gcc);
  EXPECT_EQ(text_of(find_compiler({.compiler = clang})), clang);
  ::setenv("TROUPE_CXX", "icc", 1);
  EXPECT_NE(text_of(find_compiler({})).find("TROUPE_CXX is \"icc\", which is no program in PATH"), std::string::npos);
  EXPECT_NE(text_of(find_compiler({.compiler = "/no/c++"})).find("compiler is \"/no/c++\", which is no program"),
            std::string::npos);
}

TEST_F(the_compiler, is_another_one_when_its_file_or_what_it_says_has_changed) {
  const std::string path = program("c++", "c++ 1");
  const auto one = identify(TROUPE_KEEPER, path, nullptr);
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_NE(one->identity.find("c++ 1"), std::string::npos);
  program("c++", "c++ 2");
  const auto two = identify(TROUPE_KEEPER, path, nullptr);
  ASSERT_TRUE(two);
  EXPECT_NE(one->identity, two->identity);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(identify(TROUPE_KEEPER, path, nullptr)->identity, two->identity);
}

TEST_F(the_compiler, is_asked_once_for_its_version_as_long_as_it_is_the_same_file) {
  const std::string path = program("c++", "c++ 1");
  disk_cache cache(room_.path() + "/cache");
  const std::string first = identify(TROUPE_KEEPER, path, &cache)->identity;
  EXPECT_EQ(identify(TROUPE_KEEPER, path, &cache)->identity, first);
  EXPECT_EQ(times_asked(), 1);
  program("c++", "c++ 2, longer");
  EXPECT_NE(identify(TROUPE_KEEPER, path, &cache)->identity, first);
  EXPECT_EQ(times_asked(), 2);
}

TEST_F(the_compiler, is_refused_when_it_does_not_say_its_version) {
  const std::string path = room_.path() + "/c++";
  std::ofstream(path) << "#!/bin/sh\necho 'no licence' >&2\nexit 1\n";
  fs::permissions(path, fs::perms::owner_all);
  const auto bad = identify(TROUPE_KEEPER, path, nullptr);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reaction(), reaction::unsupported);
  EXPECT_NE(bad.error().text().find("no licence"), std::string::npos) << bad.error().text();
}

TEST(dependencies, are_read_as_compilers_write_them) {
  EXPECT_EQ(files_in_rule("x: a.cu /usr/b.h \\\n /with\\ space/c.h /dollar$$/d \\\n  e\n\n/usr/b.h:\n"),
            (std::vector<std::string>{"a.cu", "/usr/b.h", "/with space/c.h", "/dollar$/d", "e"}));
  EXPECT_EQ(files_in_rule("x: a.cu"), (std::vector<std::string>{"a.cu"}));
  EXPECT_TRUE(files_in_rule("").empty());
  EXPECT_TRUE(files_in_rule("no rule").empty());
}

TEST(dependencies, include_the_folders_and_the_places_where_another_file_would_be_found_first) {
  EXPECT_EQ(paths_to_watch("x: a.cu own.h /two/sub/b.h /one/c.h /usr/d.h\n", {"/one", "/two"}),
            (std::vector<std::string>{"/one", "/one/c.h", "/one/sub/b.h", "/two", "/two/sub/b.h", "/usr/d.h"}));
}

}  // namespace
}  // namespace troupe::jit
