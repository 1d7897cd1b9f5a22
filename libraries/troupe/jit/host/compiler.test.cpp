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

class host_compiler : public testing::Test {
 protected:
  host_compiler() : path_before_(std::getenv("PATH")) {
    ::unsetenv("TROUPE_CXX");
    ::setenv("PATH", (folder_.path() + "/none:" + folder_.path()).c_str(), 1);
  }
  ~host_compiler() override {
    ::setenv("PATH", path_before_.c_str(), 1);
    ::unsetenv("TROUPE_CXX");
  }
  // Writes a fake compiler that prints `text`, counts its runs, and names other programs that do its work.
  std::string program(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\ncase $1 in\n"
                        << "-print-prog-name=cc1plus) echo " << folder_.path() << "/cc1plus ;;\n"
                        << "-print-prog-name=ld) echo ld ;;\n"
                        << "-*) echo asked >> " << folder_.path() << "/asked; echo '" << text << "' ;;\nesac\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  int times_asked() const {
    std::ifstream f(folder_.path() + "/asked");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(f), {}, '\n'));
  }
  static std::string text_of(const result<std::string>& r) { return r ? *r : r.error().text(); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
    fs::permissions(folder_.path() + "/" + name, fs::perms::owner_all);
  }

  plan::private_folder folder_ = plan::private_folder::make().value();
  std::string path_before_;
  known_compilers compilers_;
};

TEST_F(host_compiler, is_the_recipes_or_else_troupe_cxx_or_else_the_first_in_path) {
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
  EXPECT_NE(text_of(find_compiler({})).find("TROUPE_CXX is \"icc\", which is neither a program in PATH"),
            std::string::npos);
  EXPECT_NE(text_of(find_compiler({.compiler = "/no/c++"}))
                .find("compiler is \"/no/c++\", which is not an executable program"),
            std::string::npos);
}

TEST_F(host_compiler, refuses_recipe_fields_that_apply_only_to_gpus) {
  EXPECT_TRUE(check_for_host({.source = "a"}));
  const auto registers = check_for_host({.source = "a", .max_registers = 32});
  ASSERT_FALSE(registers);
  EXPECT_EQ(registers.error().reaction(), reaction::unsupported);
  EXPECT_EQ(registers.error().text(),
            "jit.compile: max_registers is 32; the host engine compiles for a processor, whose registers are not "
            "shared: leave it 0");
  const auto refusal = [](const recipe& r) {
    const auto fine = check_for_host(r);
    EXPECT_TRUE(!fine && fine.error().reaction() == reaction::unsupported);
    return fine ? std::string() : fine.error().text();
  };
  EXPECT_NE(refusal({.source = "a", .units = {{.name = "b.cu", .source = "b"}}}).find("units has \"b.cu\""),
            std::string::npos);
  EXPECT_NE(refusal({.source = "a", .relocatable = true}).find("relocatable is true"), std::string::npos);
  EXPECT_NE(refusal({.source = "a", .precompiled_headers = true}).find("precompiled_headers is true"),
            std::string::npos);
  EXPECT_TRUE(check_for_host({.source = "a", .link_time_optimisation = true}))
      << "a single source is always optimized as a whole";
  const auto architecture = check_for_host({.source = "a", .architecture = "sm_90a"});
  ASSERT_FALSE(architecture);
  EXPECT_EQ(architecture.error().reaction(), reaction::unsupported);
  EXPECT_EQ(architecture.error().text(),
            "jit.compile: architecture is \"sm_90a\"; the host engine compiles for the processor it runs on: leave it "
            "empty");
}

TEST_F(host_compiler, gets_a_new_identity_if_its_file_or_its_version_text_changes) {
  const std::string path = program("c++", "c++ 1");
  const auto one = compilers_.identify(TROUPE_COMPILER_GUARD, path, nullptr);
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_NE(one->identity.find("c++ 1"), std::string::npos);
  program("c++", "c++ 2");
  const auto two = compilers_.identify(TROUPE_COMPILER_GUARD, path, nullptr);
  ASSERT_TRUE(two);
  EXPECT_NE(one->identity, two->identity);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(compilers_.identify(TROUPE_COMPILER_GUARD, path, nullptr)->identity, two->identity);
}

TEST_F(host_compiler, is_asked_for_its_version_once_while_its_file_is_unchanged) {
  const std::string path = program("c++", "c++ 1");
  plan::disk_cache cache(folder_.path() + "/cache");
  const std::string first = compilers_.identify(TROUPE_COMPILER_GUARD, path, &cache)->identity;
  const int once = times_asked();
  EXPECT_EQ(compilers_.identify(TROUPE_COMPILER_GUARD, path, nullptr)->identity, first);
  known_compilers of_another_process;
  EXPECT_EQ(of_another_process.identify(TROUPE_COMPILER_GUARD, path, &cache)->identity, first);
  EXPECT_EQ(times_asked(), once);
  program("c++", "c++ 2, longer");
  EXPECT_NE(compilers_.identify(TROUPE_COMPILER_GUARD, path, &cache)->identity, first);
  EXPECT_EQ(times_asked(), 2 * once);
}

TEST_F(host_compiler, gets_a_new_identity_if_a_program_that_its_wrapper_runs_changes) {
  const std::string path = program("c++", "c++ 1");
  write("cc1plus", "the compiler");
  write("ld", "the linker");  // found in PATH
  plan::disk_cache cache(folder_.path() + "/cache");
  std::vector<std::string> identities{compilers_.identify(TROUPE_COMPILER_GUARD, path, &cache)->identity};
  for (const char* name : {"cc1plus", "ld"}) {
    write(name, "a newer one");
    known_compilers of_another_process;
    identities.push_back(of_another_process.identify(TROUPE_COMPILER_GUARD, path, &cache)->identity);
    EXPECT_NE(identities.back(), identities[identities.size() - 2]) << name;
    EXPECT_EQ(compilers_.identify(TROUPE_COMPILER_GUARD, path, &cache)->identity, identities.back()) << name;
  }
}

TEST_F(host_compiler, is_refused_if_it_does_not_report_its_version) {
  const std::string path = folder_.path() + "/c++";
  std::ofstream(path) << "#!/bin/sh\necho 'no licence' >&2\nexit 1\n";
  fs::permissions(path, fs::perms::owner_all);
  const auto bad = compilers_.identify(TROUPE_COMPILER_GUARD, path, nullptr);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reaction(), reaction::unsupported);
  EXPECT_NE(bad.error().text().find("no licence"), std::string::npos) << bad.error().text();
}

TEST(compiler_dependencies, are_read_from_the_rules_that_compilers_write) {
  EXPECT_EQ(files_in_rule("x: a.cu /usr/b.h \\\n /with\\ space/c.h /dollar$$/d \\\n  e\n\n/usr/b.h:\n"),
            (std::vector<std::string>{"a.cu", "/usr/b.h", "/with space/c.h", "/dollar$/d", "e"}));
  EXPECT_EQ(files_in_rule("x: a.cu"), (std::vector<std::string>{"a.cu"}));
  EXPECT_TRUE(files_in_rule("").empty());
  EXPECT_TRUE(files_in_rule("no rule").empty());
}

TEST(compiler_dependencies, include_places_that_are_searched_before_the_files_found) {
  EXPECT_EQ(paths_to_watch("x: a.cu own.h /two/sub/b.h /one/c.h /usr/d.h\n", {"/one", "/two"}),
            (std::vector<std::string>{"/one", "/one/c.h", "/one/sub/b.h", "/two", "/two/sub/b.h", "/usr/d.h"}));
}

}  // namespace
}  // namespace troupe::jit
