// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/cuda/nvrtc/messages.hpp>

namespace troupe::jit {
namespace {

const std::string name = "mine.cu", text;
const std::vector<std::string> kernels = {"k", "sum<float>"}, globals = {"params"};

messages of(const std::string& said) {
  return messages_for_user({name, text, kernels, globals}, said, "/pretended/", "/our/headers");
}

TEST(nvrtc_messages, name_files_as_the_user_does) {
  const messages m =
      of("/pretended/mine.cu(2): error: identifier \"x\" is undefined\n  x;\n  ^\n\n"
         "1 error detected in the compilation of \"/pretended/mine.cu\".\n");
  EXPECT_EQ(m.first_error, "mine.cu(2): error: identifier \"x\" is undefined");
  EXPECT_EQ(m.log,
            "mine.cu(2): error: identifier \"x\" is undefined\n  x;\n  ^\n\n"
            "1 error detected in the compilation of \"mine.cu\".\n");
}

TEST(nvrtc_messages, are_empty_if_nvrtc_printed_none) {
  EXPECT_EQ(of("").log, "");
  EXPECT_EQ(of("").first_error, "");
  const std::string warning =
      "mine.cu(1): warning #177-D: variable \"error: \" was declared but never referenced\n  int x;\n";
  EXPECT_EQ(of(warning).log, warning);
}

TEST(nvrtc_messages, quote_the_recipes_names_as_the_recipe_spells_them) {
  const messages m =
      of("__nv_name_map(3): error: identifier \"params\" is undefined\n"
         "  #pragma nv_mangled_name &params\n                           ^\n\n"
         "__nv_name_map(3): error: Error in parsing name expression for lowered name lookup. Input name expression "
         "was: \" & "
         "params\"\n  #pragma nv_mangled_name &params\n                          ^\n\n"
         "__nv_name_map(2): error: Name expression cannot form address of a non-__global__ function. Input name "
         "expression "
         "was: \" sum < float >\"\n  #pragma nv_mangled_name sum<float>\n                          ^\n\n"
         "3 errors detected in the compilation of \"/pretended/mine.cu\".\n");
  EXPECT_EQ(m.first_error,
            "mine.cu: error: globals has \"params\": identifier \"params\" is undefined; expected a __device__ or "
            "__constant__ "
            "variable of the source, as spelled in C++");
  EXPECT_EQ(
      m.log,
      m.first_error +
          "\n\nmine.cu: error: kernels has \"sum<float>\": Name expression cannot form address of a non-__global__ "
          "function; expected a __global__ function of the source, as spelled in C++; for a template, an instance: "
          "\"scale<float>\"\n\n");
}

// If a brace is missing, NVRTC does not find these names either, but the missing brace is the error to report.
TEST(nvrtc_messages, begin_with_errors_in_the_source) {
  const messages m =
      of("__nv_name_map(2): error: identifier \"k\" is undefined\n  #pragma nv_mangled_name k\n                        "
         "  ^\n\n"
         "At end of source: error: expected a \"}\"\n"
         "/pretended/mine.cu(1): note #3196-D: to match this \"{\"\n  __global__ void k(){\n                     ^\n\n"
         "2 errors detected in the compilation of \"/pretended/mine.cu\".\n");
  EXPECT_EQ(m.first_error, "At end of source: error: expected a \"}\"");
}

TEST(nvrtc_messages, about_our_headers_name_the_line_that_used_them) {
  const messages m =
      of("/our/headers/part/classes.h(33): error: static assertion failed with \"std::vector is host-only\"\n"
         "  VECTOR(vector)\n  ^\n          detected during:\n"
         "            instantiation of class \"std::vector<T...> [with T=<float>]\" at line 7\n"
         "            instantiation of \"void f<T>() [with T=float]\" at line 12 of /pretended/mine.cu\n\n"
         "1 error detected in the compilation of \"/pretended/mine.cu\".\n");
  EXPECT_EQ(m.first_error,
            "part/classes.h(33): error: static assertion failed with \"std::vector is host-only\"; used at line 12 "
            "of mine.cu");
}

TEST(nvrtc_messages, include_a_remedy_if_one_is_known) {
  const auto ends_with = [](const std::string& error, const char* end) {
    const messages m = of("/pretended/mine.cu(1): error: " + error + "\n  k<<<1, 1>>>();\n");
    EXPECT_TRUE(m.first_error.ends_with(end)) << m.first_error;
  };
  ends_with("device-side kernel launch could not be processed as the required runtime APIs are not declared",
            "or between #ifndef __CUDACC_RTC__ and #endif");
  ends_with("__host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag",
            "; remove the annotation: a lambda runs where its function runs");
}

}  // namespace
}  // namespace troupe::jit
