// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "chunks_under_way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <troupe/cuda/testing/fake_driver.hpp>

namespace troupe::memory {
namespace {

class chunks : public testing::Test {
 protected:
  chunks() {
    driver.reset();
    driver.computes = true;
  }
  std::ptrdiff_t times_called(const char* name) const {
    const auto all = driver.calls();
    return std::count_if(all.begin(), all.end(), [name](const std::string& c) { return c.starts_with(name); });
  }
  cuda::testing::fake_driver& driver = cuda::testing::driver();
  std::array<char, 64> from{}, to{};
};

TEST_F(chunks, arrive_in_order_without_a_call_of_the_driver) {
  arrivals all = arrivals::make(4).value();
  for (int transfer = 0; transfer < 2; ++transfer) {
    chunks_under_way going(all[2], nullptr);
    EXPECT_FALSE(going.take_arrived().value()) << "none was sent";
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(going.send(to.data(), from.data(), to.size()));
    EXPECT_EQ(going.count(), 3u);
    EXPECT_TRUE(going.take_arrived().value());
    EXPECT_EQ(going.over(), 1u);
    ASSERT_TRUE(going.await_all());
    EXPECT_EQ(going.over(), 3u);
  }
  EXPECT_EQ(times_called("cuStreamQuery"), 0);
  EXPECT_EQ(times_called("cuStreamWriteValue64(6"), 1) << "the number goes on with the next transfer";
}

TEST_F(chunks, fail_in_a_lost_context_instead_of_being_awaited_forever) {
  arrivals all = arrivals::make(1).value();
  driver.computes = false;  // nothing arrives
  chunks_under_way going(all[0], nullptr);
  ASSERT_TRUE(going.mark());
  EXPECT_FALSE(going.take_arrived().value());
  driver.fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
  const auto done = going.await_all();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reaction(), reaction::context_lost);
  EXPECT_EQ(times_called("cuStreamQuery"), 1);
}

TEST_F(chunks, need_pinned_memory_which_may_be_refused_and_is_freed) {
  driver.fail("cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_FALSE(arrivals::make(4));
  driver.succeed("cuMemHostAlloc");
  EXPECT_TRUE(arrivals::make(4));
  EXPECT_EQ(times_called("cuMemFreeHost"), 1);
}

}  // namespace
}  // namespace troupe::memory
