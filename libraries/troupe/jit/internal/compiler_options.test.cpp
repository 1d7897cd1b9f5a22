// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/internal/compiler_options.hpp>

namespace troupe::jit {
namespace {

TEST(compiler_options, options_of_nvrtc_are_accepted_if_they_affect_only_the_code) {
  for (const char* option : {"--prec-div=false", "--ptxas-options=-v", "--restrict", "--split-compile=2"})
    EXPECT_TRUE(is_allowed_option(option)) << option;
  for (const char* option : {"--gpu-architecture=sm_80", "--include-path=/x", "--pch", "--use-pch=x", "--time=x", "-dc",
                             "-time=x", "--relocatable-device-code=true", "--define-macro=X", "--optix-ir"})
    EXPECT_FALSE(is_allowed_option(option)) << option;
}

TEST(compiler_options, options_for_code_generation_diagnostics_and_linking_are_allowed) {
  for (const char* option : {"-O3",
                             "-Ofast",
                             "-g",
                             "-ggdb3",
                             "-gdwarf-5",
                             "-march=native",
                             "-mno-avx512f",
                             "-Wno-unused",
                             "-Werror=shadow",
                             "-DX",
                             "-UX",
                             "-std=c++23",
                             "--param=x=1",
                             "-pthread",
                             "-ffast-math",
                             "-fno-rtti",
                             "-fsanitize=address,undefined",
                             "-fno-sanitize=vptr",
                             "-fopenmp",
                             "-flto",
                             "-flto=auto",
                             "-fuse-ld=lld",
                             "-I/x",
                             "-isystem/x",
                             "-L/x",
                             "-lm",
                             "-l:libx.a",
                             "-stdlib=libc++",
                             "--sysroot=/x",
                             "-static-libgcc",
                             "-Wl,-rpath,/x",
                             "-Wl,-rpath=/x,-z,now",
                             "-Wl,--as-needed",
                             "-Wl,-z,undefs",
                             "-Wl,--exclude-libs,ALL"})
    EXPECT_TRUE(is_allowed_option(option)) << option;
  for (const char* option : {"", "-", "-Wl,", "-include-pch", "-I-", "-Wl,-z", "-Wl,-z,", "-Wl,-z,-o", "-Wl,,", "-L",
                             "-D", "-std=", "-objc"})
    EXPECT_FALSE(is_allowed_option(option)) << option;
}

TEST(compiler_options, options_for_nvrtc_must_be_long_names_and_must_not_name_files) {
  for (const char* option :
       {"--prec-div=false", "--ptxas-options=-v", "--restrict", "--split-compile=2", "--diag-suppress=177,550"})
    EXPECT_TRUE(is_allowed_for_nvrtc(option)) << option;
  for (const char* option : {"-I/x",
                             "-include=/x",
                             "-ftz=true",
                             "-time=/x",
                             "-fdevice-time-trace=/x",
                             "-use-pch=/x",
                             "-pch-dir=/x",
                             "-std=c++17",
                             "-restrict",
                             "-Wall",
                             "--param=x=1",
                             "--restricted",
                             "--restrict=1",
                             "--ptxas-options",
                             "--ptxas-options=/x",
                             "--ptxas-options=-optf=/x",
                             "--ptxas-options=--options-file=/x",
                             "--time=/x",
                             "",
                             "-",
                             "="})
    EXPECT_FALSE(is_allowed_for_nvrtc(option)) << option;
}

TEST(compiler_options, options_that_nvrtc_must_not_get_are_refused_with_an_alternative) {
  EXPECT_EQ(alternative_to("-I/x"), "use recipe::include_paths");
  EXPECT_EQ(alternative_to("-DX=1"), "use recipe::definitions");
  EXPECT_EQ(alternative_to("-include=/x"), "write #include into the source");
  EXPECT_EQ(alternative_to("-maxrregcount=32"), "use recipe::max_registers");
  EXPECT_EQ(alternative_to("-prec-div=false"), "write --prec-div=false");
  EXPECT_EQ(alternative_to("-Xptxas=-O0"), "write --ptxas-options=");
  EXPECT_EQ(alternative_to("-use-pch=/x"), "docs/jit.md lists those that can be given");
}

TEST(compiler_options, options_count_as_reading_files_unless_they_are_listed_as_harmless) {
  for (const char* option : {"-Wall", "-Wno-unused", "-DX=1", "-UX", "-O2", "-g", "-mavx2", "-march=x86-64-v3",
                             "-std=gnu++20", "-fno-inline", "-fno-math-errno", "-ftemplate-depth=9", "-funroll-loops",
                             "-fconstexpr-ops-limit=9", "-w", "-pthread", "--param=max-unroll-times=4"})
    EXPECT_TRUE(reads_no_files(option)) << option;
  for (const char* option : {"-lm",
                             "-L/x",
                             "-I/x",
                             "-include/x",
                             "-Wl,-rpath,/x",
                             "-fplugin=/x",
                             "-fprofile-use=/x",
                             "-specs=/x",
                             "-fauto-profile=/x",
                             "-mllvm=x",
                             "-fuse-ld=/x",
                             "-flto",
                             "-fsanitize-ignorelist=/x",
                             "-static",
                             "-shared",
                             "-stdlib=libc++",
                             "--sysroot=/x",
                             "-T/x",
                             "-fmodules",
                             "-fstack-usage",
                             "-something-new"})
    EXPECT_FALSE(reads_no_files(option)) << option;
}

}  // namespace
}  // namespace troupe::jit
