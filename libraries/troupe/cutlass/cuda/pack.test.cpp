// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks how the kernel that packs is launched. The stored values are checked by the numeric tests of `pack`, which run
// on these fakes, too.
#include <gtest/gtest.h>

#include <tests/numerics/engine_under_test.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/cutlass/cutlass.hpp>

namespace troupe::cutlass {
namespace {

class cutlass_cuda_packing : public ::testing::Test {
 protected:
  ~cutlass_cuda_packing() override {
    driver.succeed("cuLaunchKernel");
    driver.notes_calls = false;
  }
  template <access_mode M>
  any_operand<M> matrix_of(std::vector<float>& memory, std::int64_t rows, std::int64_t columns) {
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(memory.data()), memory.size() * sizeof(float)},
            {.rank = 2, .extents = {rows, columns}, .strides = {columns, 1}},
            dtype::f32};
  }
  numerics::engine_under_test engine{TROUPE_ENGINE_UNDER_TEST};
  cuda::testing::fake_driver& driver = cuda::testing::driver_of(TROUPE_ENGINE_UNDER_TEST);
};

TEST_F(cutlass_cuda_packing, a_request_is_one_launch_whose_failure_fails_the_request) {
  std::vector<float> from(70 * 40, 2.5f), to(70 * 40);
  const pack r{.from = matrix_of<access_mode::read>(from, 70, 40), .packed = matrix_of<access_mode::write>(to, 70, 40)};
  driver.notes_calls = true;
  const std::size_t before = driver.count("cuLaunchKernel");
  ASSERT_TRUE(engine.run(r));
  EXPECT_EQ(driver.count("cuLaunchKernel"), before + 1);
  EXPECT_EQ(to, from);
  driver.fail("cuLaunchKernel", CUDA_ERROR_OUT_OF_MEMORY);
  const auto failed = engine.run(r);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().to_string().find("cuLaunchKernel"), std::string::npos) << failed.error().to_string();
}

}  // namespace
}  // namespace troupe::cutlass
