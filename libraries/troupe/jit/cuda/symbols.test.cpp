// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/symbols.hpp>
#include <troupe/jit/cuda/translate.hpp>

namespace troupe::jit {
namespace {

using names = std::vector<std::string>;

// A source with functions for other parts, a kernel and a variable. Functions that are static, weak (templates) or
// defined elsewhere must not be listed.
constexpr const char* source =
    "extern __device__ int elsewhere(int);\n"
    "static __device__ int mine;\n"
    "__device__ int shared_by_all[4];\n"
    "template <class T> __device__ __noinline__ T twice(T v) { return v + v + T(mine); }\n"
    "__device__ __noinline__ float f(float v) { return twice(v); }\n"
    "__global__ void k(int* x) { mine = *x = elsewhere(int(f(1))); printf(\"%d\", *x); }\n";

names found_in(code what, const char* architecture) {
  const auto with = nvrtc::find();
  const std::vector<std::string> none;
  compiled said;
  const std::string name = "s.cu", text = source;
  const auto made = translate(*with, {.source = text}, {name, text, none, none}, target{architecture}, what,
                              compile_deadline(), said);
  EXPECT_TRUE(made) << said.log;
  names out = made ? strong_symbols(made->bytes) : names();
  std::sort(out.begin(), out.end());
  return out;
}

TEST(strong_symbols, a_cubin_has_the_names_that_it_defines_for_other_parts) {
  EXPECT_EQ(found_in(code::relocatable_code, "sm_90a"), (names{"_Z1ff", "_Z1kPi", "shared_by_all"}));
}

TEST(strong_symbols, ptx_has_the_names_declared_visible) {
  EXPECT_EQ(strong_symbols("// .visible .func no(\n.version 9.0\n.target sm_90\n/* .visible .func nor(); */\n"
                           ".visible .func  (.param .b32 func_retval0) _Z1ff(\n.param .b32 x)\n{ ret; }\n"
                           ".visible .entry _Z1kPi(\n)\n{ ret; }\n.visible .global .align 4 .b8 table[16];\n"
                           ".weak .entry w() { ret; }\n.func quiet() { ret; }\n.visible .const .align 8 .u64 $c = 1;"),
            (names{"_Z1ff", "_Z1kPi", "table", "$c"}));
}

TEST(strong_symbols, other_bytes_have_none) {
  for (const char* bytes : {"", "\x7f",
                            "\x7f"
                            "ELF",
                            ".version 9.0 .visible", ".version 9.0 .visible .func (", "/*"})
    EXPECT_EQ(strong_symbols(bytes), names()) << bytes;
}

}  // namespace
}  // namespace troupe::jit
