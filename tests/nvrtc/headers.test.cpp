// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The replacements of C and C++ headers on a GPU, through NVRTC: each alone, all together, with those of CUDA, and
// kernels that use their functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <troupe/jit/cuda/compile.hpp>

#include "kernel_texts.hpp"

namespace troupe::testing {
namespace {

namespace fs = std::filesystem;

const jit::nvrtc& installed() {
  static const jit::nvrtc with = jit::nvrtc::find().value();
  return with;
}

// Returns our headers in the form in which sources name them.
std::vector<std::string> own_headers() {
  std::vector<std::string> out;
  const fs::path folder = installed().own_headers;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) out.push_back(entry.path().lexically_relative(folder));
  std::sort(out.begin(), out.end());
  return out;
}
// Headers of CUDA that kernels include.
const std::vector<std::string> cudas = {"cooperative_groups.h",
                                        "cooperative_groups/reduce.h",
                                        "cuda_fp16.h",
                                        "cuda_bf16.h",
                                        "cuda_fp8.h",
                                        "cuda_fp4.h",
                                        "cuComplex.h",
                                        "curand_kernel.h",
                                        "mma.h",
                                        "cuda_pipeline.h",
                                        "math_constants.h",
                                        "cuda/atomic",
                                        "cuda/barrier",
                                        "cuda/std/complex",
                                        "cuda/std/tuple",
                                        "cub/block/block_reduce.cuh"};

std::string includes_of(const std::vector<std::string>& headers) {
  std::string out;
  for (const std::string& h : headers) out += "#include <" + h + ">\n";
  return out;
}

class own_headers_by_architecture : public ::testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  // Expects that NVRTC compiles the recipe without any message.
  void expect_silence(jit::recipe r, const std::string& where) const {
    r.source += "\n__global__ void last(int* x) { *x = 1; }\n";
    std::tie(r.architecture, r.standard) = GetParam();
    const auto c = jit::compiler_for(installed(), r, 0);
    ASSERT_TRUE(c) << c.error().text();
    const jit::compiled made = jit::compile(installed(), *c, r, INT64_MAX);
    EXPECT_FALSE(made.failed) << where << ": " << made.failed->text();
    EXPECT_EQ(made.log, "") << where;
  }
};

// Each header alone, and only for one architecture of each C++ standard: none of the headers looks at the
// architecture.
using each_own_header = own_headers_by_architecture;

TEST_P(each_own_header, compiles_alone_and_when_included_twice) {
  const std::vector<std::string> all = own_headers();
  EXPECT_GT(all.size(), 150u);
  for (const std::string& h : all) expect_silence({.source = includes_of({h, h})}, h);
}

TEST(own_headers, depend_on_no_architecture) {
  for (const std::string& h : own_headers())
    EXPECT_EQ(text_of(fs::path(installed().own_headers) / h).find("__CUDA_ARCH"), std::string::npos) << h;
}

TEST_P(own_headers_by_architecture, compile_together_in_any_order) {
  std::vector<std::string> all = own_headers();
  expect_silence({.source = includes_of(all)}, "in order");
  std::reverse(all.begin(), all.end());
  expect_silence({.source = includes_of(all)}, "backwards");
}

TEST_P(own_headers_by_architecture, compile_together_with_those_of_cuda) {
  const std::string ours = includes_of(own_headers()), theirs = includes_of(cudas);
  expect_silence({.source = theirs + ours}, "theirs first");
  expect_silence({.source = ours + theirs}, "ours first");
}

// The C++ names of C headers.
TEST_P(own_headers_by_architecture, compile_in_an_extern_c_block) {
  std::vector<std::string> of_c = own_headers();
  std::erase_if(of_c, [](const std::string& h) { return !h.ends_with(".h") || h.starts_with("troupe_device/"); });
  EXPECT_GT(of_c.size(), 80u);
  expect_silence({.source = "extern \"C\" {\n" + includes_of(of_c) + "}\n"}, "in order");
  std::reverse(of_c.begin(), of_c.end());
  expect_silence({.source = "extern \"C\" {\n" + includes_of(of_c) + "}\n"}, "backwards");
}

INSTANTIATE_TEST_SUITE_P(, each_own_header, ::testing::Values(std::tuple("sm_80", 17), std::tuple("sm_90a", 20)),
                         [](const auto& i) { return std::string(std::get<0>(i.param)); });
INSTANTIATE_TEST_SUITE_P(, own_headers_by_architecture,
                         ::testing::Values(std::tuple("sm_80", 17), std::tuple("sm_90a", 20), std::tuple("sm_100", 20),
                                           std::tuple("sm_120", 20)),
                         [](const auto& i) { return std::string(std::get<0>(i.param)); });

}  // namespace
}  // namespace troupe::testing
