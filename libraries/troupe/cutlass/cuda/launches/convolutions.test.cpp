// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks the launches of a convolution, on a driver that records its calls.
#include <gtest/gtest.h>

#include <troupe/base/text/cat.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/cutlass/cuda/convolutions.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {
namespace {

using testing::h100;

class cutlass_convolution_launches : public ::testing::Test {
 protected:
  cutlass_convolution_launches() { driver.reset(); }
  // Returns a convolution of 2 images of 8 channels with filters of 3 x 3.
  convolution_problem problem_of(computed_tensor r, std::int64_t stride, bool channels_last) {
    convolution_problem p;
    p.result = r, p.images = 2, p.channels_of_group = 8, p.filters_of_group = 16, p.sums = dtype::f32;
    const std::int64_t in = 12, out = stride == 1 ? 12 : 6;
    for (const std::size_t i : {1, 2}) p.set(i, in, out, 3, {1, 1, stride, 1});
    const auto placed = [&](std::uint64_t at, std::int64_t channels, std::int64_t side) {
      placed_tensor t{at, dtype::bf16, side * side * channels, 1, {0, side * channels, channels}};
      if (!channels_last) t.channel = side * side, t.spatial = {0, side, 1};
      return t;
    };
    p.x = placed(0x10000, 8, in), p.filters = placed(0x20000, 8, 3), p.y = placed(0x30000, 16, out);
    p.tree = epilogue::tree(tree.data(), tree.size());
    return p;
  }
  // Returns an execution plan with the fake driver's kernels.
  convolution_execution_plan execution_plan_with(const convolution_problem& p, const convolution_choice& c) {
    const auto work = work_of(p, c, 0);
    EXPECT_TRUE(work) << work.error().text();
    convolution_execution_plan out;
    out.candidate.choice = c, out.candidate.bytes = work->bytes;
    const auto with = [](cuda::testing::fake_kernel& k) {
      auto made = std::make_shared<kernel_variant>();
      made->kernel = reinterpret_cast<CUkernel>(&k), made->threads = 256;
      return made;
    };
    for (const convolution_product& x : work->products) {
      auto r = std::make_shared<execution_plan>();
      r->signature = work->signature.product, r->kernel = with(product), r->blocks = static_cast<unsigned>(x.product.m);
      for (matrix_map& m : r->maps) m.type = execution_plan::no_map;
      out.products.push_back(std::move(r));
    }
    for (auto& k : out.copies) k = with(copy);
    return out;
  }
  result<void> launch(const convolution_problem& p, const convolution_choice& c) {
    const convolution_execution_plan execution = execution_plan_with(p, c);
    lane on;
    return enqueue(p, execution, h100, on, 0x100000, 0, true, nullptr);
  }
  // Returns the names of the kernels that were launched.
  std::vector<std::string> launched() const {
    std::vector<std::string> out;
    for (const std::string& call : driver.calls())
      if (const std::string_view begin = "cuLaunchKernel("; call.starts_with(begin))
        out.push_back(call.substr(begin.size(), call.find(',') - begin.size()));
    return out;
  }

  cuda::testing::fake_driver& driver = cuda::testing::driver();
  cuda::testing::fake_kernel product{"product"}, copy{"copy", sizeof(kernels::copy_arguments)};
  const epilogue::node sum{.what = epilogue::op::accumulator};
  const std::vector<std::byte> tree = epilogue::encode_tree({&sum, 1}, {}, {});
};

TEST_F(cutlass_convolution_launches, a_convolution_with_contiguous_channels_needs_one_launch) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters}) {
    driver.reset();
    const convolution_problem p = problem_of(r, 1, true);
    ASSERT_TRUE(launch(p, needed_copies(p)));
    EXPECT_EQ(launched(), std::vector<std::string>{"product"}) << to_string(r);
  }
}

TEST_F(cutlass_convolution_launches, a_data_gradient_of_stride_2_needs_4_launches) {
  const convolution_problem p = problem_of(computed_tensor::dx, 2, true);
  ASSERT_TRUE(launch(p, needed_copies(p)));
  EXPECT_EQ(launched(), std::vector<std::string>(4, "product"));
}

TEST_F(cutlass_convolution_launches, factors_are_copied_before_and_results_after_the_product) {
  const convolution_problem p = problem_of(computed_tensor::y, 1, false);
  std::vector<kernels::copy_arguments> copies;
  copy.run = [&](auto, auto, const void* arguments) {
    copies.push_back(*static_cast<const kernels::copy_arguments*>(arguments));
  };
  driver.computes = true;
  ASSERT_TRUE(launch(p, useful_copies(p)));
  EXPECT_EQ(launched(), (std::vector<std::string>{"copy", "copy", "product", "copy"}));
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_EQ(copies[0].from, p.x.address);
  EXPECT_EQ(copies[1].from, p.filters.address);
  EXPECT_EQ(copies[2].to, p.y.address);
  for (const kernels::copy_arguments& c : copies) EXPECT_EQ(c.transposes, 1);
  EXPECT_GE(copies[1].to, copies[0].to + 2 * 12 * 12 * 8 * sizeof(std::uint16_t)) << "copies must not overlap";
}

TEST_F(cutlass_convolution_launches, no_kernel_is_launched_after_the_first_failure) {
  const convolution_problem p = problem_of(computed_tensor::y, 1, false);
  driver.fail("cuLaunchKernelEx", CUDA_ERROR_INVALID_VALUE);
  const auto failed = launch(p, useful_copies(p));
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text().find("cuLaunchKernelEx"), std::string::npos) << failed.error().text();
  EXPECT_EQ(driver.count("cuLaunchKernel"), 2u);
}

}  // namespace
}  // namespace troupe::cutlass
