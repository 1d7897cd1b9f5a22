// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/host/diagnosis.hpp>

namespace troupe::jit {
namespace {

TEST(compiler_diagnosis, is_the_first_error_if_that_is_about_the_source) {
  EXPECT_EQ(
      diagnosis("k.cu: In function 'f':\nk.cu:3:7: error: 'x' was not declared\nk.cu:4:1: error: more\n", 1, "g++ 12"),
      "k.cu:3:7: error: 'x' was not declared");
  EXPECT_EQ(diagnosis("", 3, "g++ 12"), "the compiler exited with code 3 and printed nothing");
}

TEST(compiler_diagnosis, blames_a_broken_compiler_and_says_how_to_use_another) {
  const std::string remedy =
      "; this is a defect of the compiler (g++ 12), not of the source: name another compiler, such as clang++, in "
      "TROUPE_CXX "
      "or recipe::compiler";
  EXPECT_EQ(
      diagnosis("k.cu: In lambda function:\nk.cu:9:3: internal compiler error: in tsubst_copy, at cp/pt.cc:16905\n"
                "Please submit a full bug report\n",
                1, "g++ 12"),
      "k.cu:9:3: internal compiler error: in tsubst_copy, at cp/pt.cc:16905" + remedy);
  // Another process has killed the compiler.
  EXPECT_EQ(diagnosis("c++: fatal error: Killed signal terminated program cc1plus\n", 1, "g++ 12"),
            "c++: fatal error: Killed signal terminated program cc1plus");
}

TEST(compiler_diagnosis, names_undefined_symbols_as_spelled_in_the_source) {
  const std::string then =
      " is declared and used, but not defined: define it in the source or in a header that it includes, because the "
      "host "
      "engine "
      "links no libraries to it";
  EXPECT_EQ(diagnosis("/usr/bin/ld: /tmp/ccX.o: in function `k(float*)':\nk.cu:(.text+0x1): undefined reference to "
                      "`ns::merge(int, float const*)'\ncollect2: error: ld returned 1 exit status\n",
                      1, "g++ 12"),
            "the function ns::merge(int, float const*)" + then);
  EXPECT_EQ(diagnosis("ld.lld: error: undefined symbol: table\n>>> referenced by k.cu\n", 1, "clang 14"),
            "the name table" + then);
}

}  // namespace
}  // namespace troupe::jit
