// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <troupe/device/recovery/early_handover.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t ms = 1'000'000;

TEST(early_handover, waits_for_the_threads_first_and_then_for_copies) {
  early_handover h;
  EXPECT_EQ(h.worker(), 0u);
  h.begin(7, 5ms);
  EXPECT_EQ(h.worker(), 7u);
  const auto soon = h.look_again_at(false, 100 * ms);
  ASSERT_TRUE(soon);
  EXPECT_GT(*soon, 100 * ms);
  EXPECT_LT(*soon, 101 * ms);
  EXPECT_EQ(h.look_again_at(true, 103 * ms), 108 * ms) << "copies go on from when the threads are gone";
  EXPECT_EQ(h.look_again_at(true, 107 * ms), 108 * ms);
  EXPECT_FALSE(h.look_again_at(true, 108 * ms));
}

TEST(early_handover, waits_for_no_copies_if_there_are_none) {
  early_handover h;
  h.begin(7, 0ms);
  EXPECT_FALSE(h.look_again_at(true, 100 * ms));
}

TEST(early_handover, starts_anew_with_each_worker) {
  early_handover h;
  h.begin(7, 5ms);
  EXPECT_TRUE(h.look_again_at(true, 100 * ms));
  h.begin(8, 20ms);
  EXPECT_EQ(h.worker(), 8u);
  EXPECT_EQ(h.look_again_at(true, 106 * ms), 126 * ms) << "not when the copies of worker 7 are done";
}

}  // namespace
}  // namespace troupe
