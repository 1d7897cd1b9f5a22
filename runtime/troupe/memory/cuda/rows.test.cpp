// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which calls of the driver are made, on a fake driver that records them and has the limits of a real one.
#include "rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <troupe/cuda/testing/fake_driver.hpp>

namespace troupe::memory {
namespace {

using calls = std::vector<std::string>;

calls copied(std::int64_t width, std::int64_t rows, extent from_pitch, extent to_pitch) {
  cuda::testing::fake_driver& driver = cuda::testing::driver();
  driver.reset();
  constexpr std::uint64_t all = std::uint64_t{1} << 40;
  const auto done = copy_rows({.source = in<std::byte>(1000, all),
                               .target = out<std::byte>(2000, all),
                               .width = width,
                               .rows = rows,
                               .source_pitch = from_pitch,
                               .target_pitch = to_pitch},
                              nullptr);
  return done ? driver.calls() : calls{done.error().text()};
}

constexpr std::int64_t large = 3'000'000'000;

TEST(rows, are_copied_by_one_call_with_pitches) {
  EXPECT_EQ(copied(8, 3, 16, 24), calls{"cuMemcpy2DAsync(to 2000 by 24, from 1000 by 16, 3 rows of 8)"});
  EXPECT_EQ(copied(8, 3, tight, 24), calls{"cuMemcpy2DAsync(to 2000 by 24, from 1000 by 8, 3 rows of 8)"});
  EXPECT_EQ(copied(8, 2, INT32_MAX, tight),
            calls{"cuMemcpy2DAsync(to 2000 by 8, from 1000 by 2147483647, 2 rows of 8)"});
}

TEST(rows, are_one_copy_of_any_length_if_they_have_no_gaps) {
  EXPECT_EQ(copied(8, 3, tight, 8), calls{"cuMemcpyAsync(to 2000, from 1000, 24)"});
  EXPECT_EQ(copied(large, 2, tight, tight), calls{"cuMemcpyAsync(to 2000, from 1000, 6000000000)"});
  EXPECT_EQ(copied(large, 1, large * 2, large * 3), calls{"cuMemcpyAsync(to 2000, from 1000, 3000000000)"});
}

TEST(rows, are_copied_one_by_one_if_their_pitch_exceeds_the_drivers_limit) {
  EXPECT_EQ(copied(8, 3, large, 16),
            (calls{"cuMemcpyAsync(to 2000, from 1000, 8)", "cuMemcpyAsync(to 2016, from 3000001000, 8)",
                   "cuMemcpyAsync(to 2032, from 6000001000, 8)"}));
  EXPECT_EQ(copied(8, 2, 16, large),
            (calls{"cuMemcpyAsync(to 2000, from 1000, 8)", "cuMemcpyAsync(to 3000002000, from 1016, 8)"}));
}

}  // namespace
}  // namespace troupe::memory
