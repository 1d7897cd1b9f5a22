// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <troupe/base/shared_libraries/library_functions.hpp>

namespace troupe {
namespace {

TEST(library_functions, finds_functions_of_the_first_file_that_loads) {
  library_functions f({"libtroupe_has_no_such.so.1", "", "libm.so.6"});
  double (*cosine)(double) = nullptr;
  f.find(cosine, "cos");
  EXPECT_EQ(f.missing(), "");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
}

TEST(library_functions, names_the_first_function_that_is_missing) {
  library_functions f({"libm.so.6"});
  double (*one)(double) = [](double x) { return x; };
  void (*other)() = nullptr;
  f.find(one, "troupe_first");
  f.find(other, "troupe_second");
  EXPECT_EQ(one, nullptr);
  EXPECT_EQ(f.missing(), "libm.so.6 has no troupe_first");
}

TEST(library_functions, reports_why_the_first_file_was_not_loaded) {
  library_functions f({"libtroupe_first.so.1", "libtroupe_second.so.1"});
  void (*any)() = [] {};
  f.find(any, "anything");
  EXPECT_EQ(any, nullptr);
  EXPECT_NE(f.missing().find("libtroupe_first.so.1"), std::string::npos) << f.missing();
}

TEST(library_functions, an_empty_path_does_not_load_the_program_itself) {
  library_functions f({""});
  void* (*allocate)(std::size_t) = nullptr;
  f.find(allocate, "malloc");
  EXPECT_EQ(allocate, nullptr);
  EXPECT_EQ(f.missing(), "no path of the library is known");
}

}  // namespace
}  // namespace troupe
