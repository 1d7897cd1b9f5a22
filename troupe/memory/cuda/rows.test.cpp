// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What the driver is told to copy, on a driver that only notes it and has the limits of a real one.
#include "rows.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string told;

void tell(const std::string& what) { told += (told.empty() ? "" : ", ") + what; }

}  // namespace

extern "C" {
CUresult cuGetErrorName(CUresult, const char** out) { return *out = "CUDA_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** out) { return *out = "an error", CUDA_SUCCESS; }
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  tell(std::to_string(bytes) + " from " + std::to_string(from) + " to " + std::to_string(to));
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* how, CUstream) {
  if (how->srcPitch > INT32_MAX || how->dstPitch > INT32_MAX) return CUDA_ERROR_INVALID_VALUE;
  tell(std::to_string(how->Height) + " rows of " + std::to_string(how->WidthInBytes) + " from " +
       std::to_string(how->srcDevice) + " by " + std::to_string(how->srcPitch) + " to " +
       std::to_string(how->dstDevice) + " by " + std::to_string(how->dstPitch));
  return CUDA_SUCCESS;
}
}

namespace troupe::memory {
namespace {

std::string copied(std::int64_t width, std::int64_t rows, extent from_pitch, extent to_pitch) {
  told.clear();
  constexpr std::uint64_t all = std::uint64_t{1} << 40;
  const auto done = copy_rows({.source = in<std::byte>(1000, all),
                               .target = out<std::byte>(2000, all),
                               .width = width,
                               .rows = rows,
                               .source_pitch = from_pitch,
                               .target_pitch = to_pitch},
                              nullptr);
  return done ? told : done.error().text();
}

constexpr std::int64_t large = 3'000'000'000;

TEST(rows, go_in_one_call_that_knows_of_them) {
  EXPECT_EQ(copied(8, 3, 16, 24), "3 rows of 8 from 1000 by 16 to 2000 by 24");
  EXPECT_EQ(copied(8, 3, tight, 24), "3 rows of 8 from 1000 by 8 to 2000 by 24");
  EXPECT_EQ(copied(8, 2, INT32_MAX, tight), "2 rows of 8 from 1000 by 2147483647 to 2000 by 8");
}

TEST(rows, that_lie_without_gaps_are_one_copy_however_long) {
  EXPECT_EQ(copied(8, 3, tight, 8), "24 from 1000 to 2000");
  EXPECT_EQ(copied(large, 2, tight, tight), "6000000000 from 1000 to 2000");
  EXPECT_EQ(copied(large, 1, large * 2, large * 3), "3000000000 from 1000 to 2000");
}

TEST(rows, that_lie_further_apart_than_the_driver_can_count_go_one_by_one) {
  EXPECT_EQ(copied(8, 3, large, 16), "8 from 1000 to 2000, 8 from 3000001000 to 2016, 8 from 6000001000 to 2032");
  EXPECT_EQ(copied(8, 2, 16, large), "8 from 1000 to 2000, 8 from 1016 to 3000002000");
}

}  // namespace
}  // namespace troupe::memory
