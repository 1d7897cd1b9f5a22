// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests the compiler of generated kernels: NVRTC compiles them, and a fake driver, which accepts any image, loads them.
#include <gtest/gtest.h>

#include <troupe/base/clock.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/dnn/generated/kernel_compiler.hpp>

namespace troupe::dnn::generated {
namespace {

using cuda::testing::driver;

class generated_kernel_compiler : public ::testing::Test {
 protected:
  void SetUp() override {
    driver().reset();
    driver().attributes = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                           {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0}};
  }
  engine_context context() {
    return {
        .abi = troupe_engine_abi,
        .device = 0,
        .native_context = nullptr,
        .lanes = 1,
        .neighbours = nullptr,
        .remarks = &remarks_,
        .remark = [](void* all, const char* text) { static_cast<std::vector<std::string>*>(all)->push_back(text); }};
  }
  result<std::unique_ptr<kernel_compiler>> try_to_open() {
    return kernel_compiler::open(context(), cuda::gpu_properties::of(0, "dnn").value());
  }
  std::unique_ptr<kernel_compiler> open() {
    auto all = try_to_open();
    EXPECT_TRUE(all) << all.error().text();
    return std::move(*all);
  }
  static source with_kernel(const std::string& comment, const std::string& body = "") {
    const std::string text = "extern \"C\" __global__ void troupe_dnn_pass(int) {" + body + "} // " + comment + "\n";
    return {.text = text, .kernels = {{"troupe_dnn_pass_0", 1, text}}, .of_steps = {{{.kernel = 0, .blocks = 1}}}};
  }

  std::vector<std::string> remarks_;
};

TEST_F(generated_kernel_compiler, kernels_are_compiled_once_and_ready_after_wait_for) {
  const auto all = open();
  const auto first = all->request_compilation(with_kernel("a")), again = all->request_compilation(with_kernel("a")),
             other = all->request_compilation(with_kernel("b"));
  EXPECT_EQ(first, again);
  all->wait_for(other);
  all->wait_for(first);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_NE(first[0]->get(), nullptr);
  EXPECT_NE(other[0]->get(), nullptr);
  EXPECT_EQ(driver().count("cuLibraryLoadData"), 2u);
  EXPECT_EQ(all->notes(), "generated kernels: 2");
  EXPECT_TRUE(remarks_.empty());
}

TEST_F(generated_kernel_compiler, sources_share_the_kernels_that_both_have) {
  const auto all = open();
  source both = with_kernel("a");
  both.kernels.push_back(with_kernel("b").kernels[0]);
  const auto one = all->request_compilation(with_kernel("b")), two = all->request_compilation(both);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1], one[0]);
  all->wait_for(two);
  EXPECT_EQ(driver().count("cuLibraryLoadData"), 2u);
}

TEST_F(generated_kernel_compiler, a_source_without_kernels_needs_no_compilation) {
  const auto all = open();
  EXPECT_TRUE(all->request_compilation({}).empty());
  all->wait_for({});
}

TEST_F(generated_kernel_compiler, a_repeated_failure_is_logged_once_and_leaves_no_kernels) {
  driver().fail("cuLibraryLoadData", CUDA_ERROR_INVALID_IMAGE);
  const auto all = open();
  for (const char* name : {"a", "b"}) {
    const auto failed = all->request_compilation(with_kernel(name));
    all->wait_for(failed);
    EXPECT_EQ(failed[0]->get(), nullptr);
  }
  ASSERT_EQ(remarks_.size(), 1u);
  EXPECT_TRUE(remarks_[0].starts_with("dnn: elementwise kernels are interpreted, because ")) << remarks_[0];
  EXPECT_EQ(all->notes(), "generated kernels: 0");
}

TEST_F(generated_kernel_compiler, a_source_that_does_not_compile_has_no_kernels) {
  const auto all = open();
  const auto failed = all->request_compilation(with_kernel("a", "nonsense"));
  all->wait_for(failed);
  EXPECT_EQ(failed[0]->get(), nullptr);
  EXPECT_EQ(remarks_.size(), 1u);
}

TEST_F(generated_kernel_compiler, destroying_the_compiler_cancels_compilations) {
  source large = with_kernel("a");
  for (int i = 0; i < 3000; ++i)
    large.kernels[0].alone +=
        "extern \"C\" __global__ void k" + std::to_string(i) + "(double* x) { x[0] = tan(pow(x[1], x[2])); }\n";
  const std::int64_t begin = now_ns();
  generated_kernels requested;
  {
    const auto all = open();
    requested = all->request_compilation(large);
    all->request_compilation(with_kernel("b"));
  }
  EXPECT_EQ(requested[0]->get(), nullptr);
  EXPECT_LT(now_ns() - begin, std::int64_t{20} * 1'000'000'000);
  EXPECT_TRUE(remarks_.empty());
}

TEST_F(generated_kernel_compiler, a_gpu_that_nvrtc_does_not_know_is_refused) {
  driver().attributes = {};
  const auto refused = try_to_open();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("the GPU's capability is 0"), std::string::npos) << refused.error().text();
}

}  // namespace
}  // namespace troupe::dnn::generated
