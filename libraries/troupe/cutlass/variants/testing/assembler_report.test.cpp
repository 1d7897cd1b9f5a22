// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks the function with which tests read the assembler's report. The reports have the format of ptxas 13.0.
#include <gtest/gtest.h>

#include <troupe/cutlass/variants/testing/assembler_report.hpp>

namespace troupe::cutlass::testing {
namespace {

std::string entry(const std::string& name, int stack, int stores, int loads) {
  return cat("ptxas info    : Compiling entry function '", name,
             "' for 'sm_90a'\nptxas info    : Function properties for ", name, "\nptxas         .     ", stack,
             " bytes stack frame, ", stores, " bytes spill stores, ", loads,
             " bytes spill loads\nptxas info    : Used 162 registers, used 1 barriers\n",
             "ptxas info    : Compile time = 2898.280 ms\n");
}

TEST(cutlass_assembler_reports, kernels_without_spills_are_clean) {
  EXPECT_EQ(why_not_clean(entry("one", 0, 0, 0) + entry("two", 0, 0, 0), {"one", "two"}), "");
}

TEST(cutlass_assembler_reports, a_kernel_that_spills_is_named) {
  for (const std::string& report :
       {entry("one", 0, 0, 0) + entry("two", 8, 4, 12), entry("two", 8, 4, 12) + entry("one", 0, 0, 0)})
    EXPECT_EQ(why_not_clean(report, {"one", "two"}),
              "two has 8 bytes of stack frame, 4 of spill stores, 12 of spill loads; expected 0 (-1: not reported)\n");
}

TEST(cutlass_assembler_reports, a_stack_frame_without_spills_is_not_clean) {
  EXPECT_NE(why_not_clean(entry("one", 16, 0, 0), {"one"}), "");
}

TEST(cutlass_assembler_reports, a_kernel_missing_from_the_report_is_not_clean) {
  EXPECT_EQ(why_not_clean(entry("one", 0, 0, 0), {"one", "two"}), "two is not in the report\n");
  EXPECT_NE(
      why_not_clean(entry("one", 0, 0, 0) + "ptxas info    : Compiling entry function 'two' for 'sm_90a'\n", {"one"}),
      "");
  EXPECT_NE(why_not_clean("", {"one"}), "");
  EXPECT_NE(why_not_clean(entry("one", 0, 0, 0), {}), "");
}

TEST(cutlass_assembler_reports, a_called_function_with_a_stack_frame_is_not_clean) {
  const std::string called =
      "ptxas info    : Function properties for called\nptxas         .     24 bytes stack frame, 0 bytes spill stores, "
      "0 "
      "bytes spill loads\n";
  EXPECT_NE(why_not_clean(entry("one", 0, 0, 0) + called, {"one"}), "");
}

TEST(cutlass_assembler_reports, serialized_products_are_not_clean) {
  EXPECT_NE(why_not_clean(entry("one", 0, 0, 0) + "ptxas info    : (C7510) Potential Performance Loss\n", {"one"}), "");
}

TEST(cutlass_assembler_reports, the_kernels_of_an_image_are_found) {
  using namespace std::string_literals;
  EXPECT_EQ(functions_of("\0.text.one\0.rela.text.two\0.nv.info.one\0"s), (std::set<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace troupe::cutlass::testing
