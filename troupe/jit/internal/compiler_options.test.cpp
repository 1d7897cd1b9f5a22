// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/internal/compiler_options.hpp>

namespace troupe::jit {
namespace {

TEST(compiler_options, of_nvrtc_are_the_callers_to_give_where_they_change_code_alone) {
  for (const char* option : {"--prec-div=false", "--ptxas-options=-v", "--restrict", "--split-compile=2"})
    EXPECT_FALSE(is_for_us_to_give(option)) << option;
  for (const char* option : {"--gpu-architecture=sm_80", "--include-path=/x", "--pch", "--use-pch=x", "--time=x", "-dc",
                             "--relocatable-device-code=true", "--define-macro=X", "--optix-ir"})
    EXPECT_TRUE(is_for_us_to_give(option)) << option;
}

TEST(compiler_options, that_may_bring_in_other_files_are_told_from_those_that_certainly_do_not) {
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
