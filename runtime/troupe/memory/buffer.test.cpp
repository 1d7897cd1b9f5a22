// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/memory/testing/buffers.hpp>

namespace troupe {
namespace {

struct float3 {
  float x, y, z;
};
struct alignas(512) page {
  std::byte bytes[512];
};

TEST_F(buffers, can_be_reinterpreted_at_any_address) {
  for (int i = 0; i < 3; ++i) {  // addresses are multiples of 256; modulo 3, each remainder occurs once
    const auto floats = alloc<float>(12);
    const auto threes = floats.as<float3>();
    EXPECT_EQ(cause(threes), "") << std::hex << floats.memory().address;
    EXPECT_EQ(threes.size(), extent(4));
    EXPECT_EQ(cause(floats.slice(3, 6).as<float3>()), "");
    EXPECT_NE(cause(floats.slice(1, 6).as<float3>()), "") << "begins within an element";
    EXPECT_NE(cause(floats.slice(0, 4).as<float3>()), "") << "ends within an element";
  }
}

TEST_F(buffers, cannot_be_reinterpreted_as_a_type_that_needs_more_alignment) {
  const auto bytes = alloc<page>(2).as<std::byte>();
  EXPECT_EQ(cause(bytes.as<page>()), "");
  const auto first = alloc<float>(128), second = alloc<float>(192), third = alloc<float>(128);
  const auto odd = second.memory().address % 512 != 0 ? second : third;
  ASSERT_NE(odd.memory().address % 512, 0u);
  EXPECT_NE(cause(odd.slice(0, 128).as<page>()), "");
}

TEST_F(buffers, have_the_requested_size_even_if_a_slice_is_invalid) {
  const auto floats = alloc<float>(10);
  EXPECT_EQ(floats.slice(5, 100).size(), extent(100));
  EXPECT_EQ(floats.slice(5, -1).size(), extent(0));
  const auto huge = floats.slice(0, INT64_MAX);
  EXPECT_NE(cause(huge), "");
  EXPECT_FALSE(huge.size().overflowed());
}

TEST_F(buffers, report_why_a_slice_is_invalid) {
  const auto x = alloc<float>(1000);
  EXPECT_EQ(cause(x.slice(-1, 3)), "slice: first is -1; expected at least 0");
  EXPECT_EQ(cause(x.slice(1, -3)), "slice: count is -3; expected at least 0");
  EXPECT_EQ(cause(x.slice(500, 1000)),
            "slice: first is 500 and count is 1000: ends at 1500, the buffer has 1000 elements");
  EXPECT_EQ(cause(x.slice(1005)), "slice: first is 1005; the buffer has 1000 elements");
  EXPECT_EQ(cause(x.slice(1001, 0)), "slice: first is 1001; the buffer has 1000 elements");
  EXPECT_EQ(cause(x.slice(0, extent(INT64_MAX) * 2)),
            "slice: count is too large for 64 bits; the buffer has 1000 elements");
}

TEST_F(buffers, may_be_slices_of_no_elements_of_any_buffer) {
  const auto none = alloc<float>(0), x = alloc<float>(10);
  EXPECT_TRUE(none);
  EXPECT_EQ(none.size(), extent(0));
  for (const auto& b : {none, none.slice(0), none.slice(0, 0), x.slice(0, 0), x.slice(3, 0), x.slice(10)}) {
    EXPECT_EQ(cause(b), "");
    EXPECT_EQ(b.size(), extent(0));
  }
  EXPECT_EQ(cause(none.slice(0, 1)), "slice: first is 0 and count is 1: ends at 1, the buffer has 0 elements");
  EXPECT_EQ(cause(none.as<float3>()), "");
}

TEST_F(buffers, are_never_stale_if_they_have_no_elements) {
  const auto x = alloc<float>(10);
  block& b = *x.memory().owner.get();
  memory_owner& owner = *b.owner;
  const auto address = [&](int element) { return x.memory().address + static_cast<std::uint64_t>(4 * element); };
  owner.mark_refused(b, address(5), address(5), error(reaction::caller_bug, "test", "writes nothing"));
  EXPECT_EQ(cause(x), "") << "it marks nothing";
  owner.mark_refused(b, address(0), address(10), error(reaction::caller_bug, "test", "writes all"));
  EXPECT_NE(cause(x), "");
  EXPECT_EQ(cause(x.slice(5, 0)), "");
}

TEST_F(buffers, keep_the_first_cause_through_slices_and_reinterpretation) {
  const auto wrong = alloc<float>(10).slice(5, 100);
  const std::string first = cause(wrong);
  EXPECT_NE(first.find("slice: first is 5 and count is 100: ends at 105, the buffer has 10 elements"),
            std::string::npos)
      << first;
  EXPECT_EQ(cause(wrong.slice(0, 50)), first);
  EXPECT_EQ(wrong.slice(0, 50).size(), extent(50));
  EXPECT_EQ(cause(wrong.slice(90, 20)), first);
  EXPECT_EQ(cause(wrong.slice(1, 99).as<float3>()), first);
  EXPECT_EQ(cause(wrong.slice(1, 98).as<float3>()), first);
}

}  // namespace
}  // namespace troupe
