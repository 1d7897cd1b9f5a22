// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/recovery/fault_place.hpp>

namespace troupe {
namespace {

constexpr std::uint64_t x = 0x2000'0000'0000, KiB = 1024, GiB = KiB * KiB * KiB;
const std::vector<encoded_operand> operands{{"argument 0", "f32", x, 4000, 4},
                                            {"argument 1", "f64", x + KiB* KiB, 800, 8},
                                            {"source", "bytes", x + 2 * KiB* KiB, 64, 1}};

TEST(fault_place, names_each_operand_that_the_kernel_may_have_tried_to_access) {
  const std::vector<encoded_operand> close{{"argument 0", "f32", x + 4 * KiB, 4000, 4},
                                           {"argument 1", "f32", x, 4000, 4},
                                           {"argument 2", "f32", x + 16 * GiB, 4000, 4}};
  EXPECT_EQ(place_of(x + 8 * GiB, {close.data(), 2}, {}),
            "0x200200000000, 8 GiB past the end of argument 0 (f32[1000]) or 8 GiB past the end of argument 1 "
            "(f32[1000])");
  EXPECT_EQ(place_of(x + 15 * GiB, close, {}), "0x2003c0000000, 1 GiB before argument 2 (f32[1000])");
  EXPECT_EQ(place_of(x + 15 * GiB + 4000, close, {}), "0x2003c0000fa0, 1 GiB before argument 2 (f32[1000])");
}

TEST(fault_place, names_the_nearest_operand_and_the_distance) {
  EXPECT_EQ(place_of(x + 4000 + 4 * KiB, operands, {}), "0x200000001fa0, 4 KiB past the end of argument 0 (f32[1000])");
  EXPECT_EQ(place_of(x - 12, operands, {}), "0x1ffffffffff4, 12 bytes before argument 0 (f32[1000])");
  EXPECT_EQ(place_of(x + 4000, operands, {}), "0x200000000fa0, 0 bytes past the end of argument 0 (f32[1000])");
  EXPECT_EQ(place_of(x + KiB * KiB - 1, operands, {}), "0x2000000fffff, 1 byte before argument 1 (f64[100])");
  EXPECT_EQ(place_of(x + 2 * KiB * KiB + 100, operands, {}),
            "0x200000200064, 36 bytes past the end of source (64 bytes)");
  EXPECT_EQ(place_of(x + 2 * KiB * KiB + 64 + 3 * KiB * KiB, operands, {}),
            "0x200000500040, 3 MiB past the end of source (64 bytes)");
}

TEST(fault_place, names_the_element_inside_an_operand_and_whether_it_is_sealed) {
  EXPECT_EQ(place_of(x + KiB * KiB + 17, operands, {}), "0x200000100011, at element 2 of argument 1 (f64[100])");
  EXPECT_EQ(place_of(x + 3996, operands, device_memory::place{x, 4096, true}),
            "0x200000000f9c, at element 999 of argument 0 (f32[1000]), which is sealed");
}

TEST(fault_place, names_another_buffer_that_contains_the_address) {
  EXPECT_EQ(place_of(x + 64 * KiB, operands, device_memory::place{x + 60 * KiB, 8 * KiB, true}),
            "0x200000010000, 60.09 KiB past the end of argument 0 (f32[1000]), in a sealed buffer of 8 KiB that the "
            "request does not use");
  EXPECT_EQ(place_of(x, {}, device_memory::place{x, 100, false}),
            "0x200000000000, in a buffer of 100 bytes that the request does not use");
}

TEST(fault_place, recognizes_null_pointers_and_names_no_operand_that_is_far_away) {
  EXPECT_EQ(place_of(8, operands, {}), "0x8, through a null pointer");
  EXPECT_EQ(place_of(0x7f00'0000'0000, operands, {}),
            "0x7f0000000000, more than 64 GiB from all memory that the request uses");
  EXPECT_EQ(place_of(x, {}, {}), "0x200000000000");
}

}  // namespace
}  // namespace troupe
