// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/blas/host/counts.hpp>

namespace troupe::blas {
namespace {

TEST(blas_counts, values_beyond_32_bits_end_the_process_instead_of_being_truncated) {
  EXPECT_EQ(narrow(INT32_MAX), INT32_MAX);
  EXPECT_EQ(narrow(-INT32_MAX), -INT32_MAX);
  EXPECT_EQ(narrow(0), 0);
  for (const std::int64_t beyond : {std::int64_t{1} << 31, (std::int64_t{1} << 32) + 5, -(std::int64_t{1} << 31)})
    EXPECT_DEATH(narrow(beyond), "blas.host passes " + std::to_string(beyond) + " to OpenBLAS");
  EXPECT_DEATH(narrow(extent::overflow()), "to OpenBLAS");
  EXPECT_DEATH(narrow(tight), "to OpenBLAS");
}

}  // namespace
}  // namespace troupe::blas
