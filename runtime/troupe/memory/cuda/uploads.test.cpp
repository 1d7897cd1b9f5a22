// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests on a fake driver which calls are made, and that each byte is copied by exactly one block of the launch.
#include "uploads.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <vector>

namespace troupe::memory {
namespace {

using upload_arguments::bytes_in_block;

// Does what the kernel does, block by block.
void copy(cuda::testing::extents blocks, cuda::testing::extents, const void* arguments) {
  const auto& a = *static_cast<const upload_arguments::uploads*>(arguments);
  for (unsigned y = 0; y < blocks.y; ++y)
    for (unsigned x = 0; x < blocks.x; ++x) {
      const small_uploads::one& one = a.all[y];
      const std::uint64_t first = std::uint64_t{x} * bytes_in_block;
      if (first >= one.bytes) continue;
      std::memcpy(static_cast<char*>(one.target) + first, static_cast<const char*>(one.source) + first,
                  std::min<std::uint64_t>(one.bytes - first, bytes_in_block));
    }
}

class uploads : public testing::Test {
 protected:
  uploads() {
    driver.reset();
    driver.primary_is_active = false;
    driver.kernels = {{"troupe_memory_uploads", sizeof(upload_arguments::uploads), &copy}};
    driver.computes = true;
    can(1);
  }
  void can(int value) {
    driver.attributes[CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED] = value;
    driver.attributes[CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM] = 1;
  }
  // Uploads pieces of these sizes, and expects that all of their bytes arrive, and no others.
  result<void> run(small_uploads& on, const std::vector<std::size_t>& sizes) {
    constexpr std::size_t room = std::size_t{20} << 10;
    std::vector<unsigned char> from(room * sizes.size()), to(from.size(), 0xee);
    std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
    std::vector<small_uploads::one> all;
    for (std::size_t i = 0; i < sizes.size(); ++i) all.push_back({&to[i * room], &from[i * room], sizes[i]});
    const auto done = on.run(all, nullptr);
    if (!done) return done;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool is_part = i % room < sizes[i / room];
      EXPECT_EQ(to[i], is_part ? from[i] : 0xee) << "byte " << i % room << " of upload " << i / room;
      if (to[i] != (is_part ? from[i] : 0xee)) break;
    }
    return {};
  }

  cuda::testing::fake_driver& driver = cuda::testing::driver();
};

TEST_F(uploads, share_one_launch_if_there_are_many) {
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  EXPECT_TRUE(run(*on, {1, 4095, 4096, 4097, 16384}));
  EXPECT_EQ(driver.count("cuLaunchKernel"), 1u);
  EXPECT_TRUE(run(*on, std::vector<std::size_t>(small_uploads::most, 100)));
  EXPECT_EQ(driver.count("cuLaunchKernel"), 2u);
  EXPECT_EQ(driver.count("cuLibraryLoadData"), 1u);
  EXPECT_EQ(driver.count("cuMemcpyAsync"), 0u);
}

TEST_F(uploads, are_copied_by_the_driver_if_there_are_few) {
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  EXPECT_TRUE(run(*on, {4096, 4096, 1}));
  EXPECT_EQ(driver.count("cuMemcpyAsync"), 3u);
  EXPECT_EQ(driver.count("cuLibraryLoadData"), 0u);
}

TEST_F(uploads, are_copied_by_the_driver_if_no_kernel_can_read_the_source) {
  can(0);
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  EXPECT_TRUE(run(*on, {1, 2, 3, 4, 5}));
  EXPECT_EQ(driver.count("cuMemcpyAsync"), 5u);
  EXPECT_EQ(driver.count("cuLaunchKernel"), 0u);
}

TEST_F(uploads, are_copied_by_the_driver_if_no_kernel_can_write_the_target) {
  driver.primary_is_active = true;
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  EXPECT_TRUE(run(*on, {1, 2, 3, 4}));
  EXPECT_EQ(driver.count("cuLaunchKernel"), 1u);
  driver.fail("cuPointerGetAttribute", CUDA_ERROR_INVALID_VALUE, 1);
  EXPECT_TRUE(run(*on, {1, 2, 3, 4}));
  EXPECT_EQ(driver.count("cuMemcpyAsync"), 4u);
  EXPECT_EQ(driver.count("cuLaunchKernel"), 1u);
}

TEST_F(uploads, query_no_pointers_in_a_worker_with_its_own_process) {
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  EXPECT_TRUE(run(*on, {1, 2, 3, 4}));
  EXPECT_EQ(driver.count("cuPointerGetAttribute"), 0u);
}

TEST_F(uploads, use_the_drivers_copies_if_the_kernel_cannot_be_loaded) {
  driver.fail("cuLibraryLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  EXPECT_TRUE(run(*on, {1, 2, 3, 4}));
  EXPECT_TRUE(run(*on, {1, 2, 3, 4}));
  EXPECT_EQ(driver.count("cuMemcpyAsync"), 8u);
  EXPECT_EQ(driver.count("cuLibraryLoadData"), 1u) << "it is tried once";
}

TEST_F(uploads, fail_with_the_name_of_the_driver_call_that_failed) {
  auto on = small_uploads::make(0);
  ASSERT_TRUE(on);
  driver.fail("cuLaunchKernel", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  const auto launched = run(*on, {1, 2, 3, 4});
  ASSERT_FALSE(launched);
  EXPECT_NE(launched.error().text().find("cuLaunchKernel"), std::string::npos) << launched.error().text();
  driver.fail("cuMemcpyAsync", CUDA_ERROR_INVALID_VALUE);
  const auto copied = run(*on, {1});
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().text().find("cuMemcpyAsync"), std::string::npos) << copied.error().text();
}

}  // namespace
}  // namespace troupe::memory
