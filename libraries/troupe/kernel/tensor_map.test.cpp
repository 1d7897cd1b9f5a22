// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/base/half.hpp>
#include <troupe/kernel/tensor_map.hpp>

#include <functional>

namespace troupe::kernel {
namespace {

constexpr std::uint64_t plenty = std::uint64_t{1} << 50, address = 0x1000;

// Returns tiles of a matrix with 64 rows of 128 halves, in boxes of 64 × 8 with the widest swizzle.
tiles matrix() { return {.sizes = {128, 64}, .box = {64, 8}, .swizzle = tensor_swizzle::bytes_128}; }
// Returns tiles with channels in groups of 16 bytes, which need at least three axes.
tiles interleaved(tensor_interleave how) {
  return {.sizes = {64, 8, 4},
          .box = {16, 8, 1},
          .interleave = how,
          .swizzle = how == tensor_interleave::bytes_32 ? tensor_swizzle::bytes_32 : tensor_swizzle::none};
}
tiles packed(tensor_type type) {
  return {.sizes = {256, 16}, .box = {128, 8}, .type = type, .swizzle = tensor_swizzle::bytes_128};
}

// Returns "VALUE; expected EXPECTED" for wrong tiles, or an empty text.
std::string complaint(const tiles& t, dtype element = dtype::f16, std::uint64_t at = address,
                      std::uint64_t bytes = plenty) {
  const auto c = complaint_about(t, element, at, bytes);
  return c ? c->value + "; expected " + c->expected : "";
}
std::string complaint_when(const std::function<void(tiles&)>& change, dtype element = dtype::f16, tiles t = matrix()) {
  change(t);
  return complaint(t, element);
}

TEST(tensor_map, is_accepted_in_every_form_that_the_driver_accepts) {
  EXPECT_EQ(complaint(matrix()), "");
  EXPECT_EQ(complaint({.sizes = {1000}, .box = {256}}, dtype::f32), "");
  EXPECT_EQ(complaint({.sizes = {32, 3, 5, 7, 9}, .box = {32, 1, 2, 3, 4}, .steps = {1, 2, 1, 8, 1}}, dtype::f32), "");
  EXPECT_EQ(complaint({.sizes = {100, 64}, .box = {64, 8}, .strides = {208}}), "") << "rows of 200 bytes, padded";
  EXPECT_EQ(complaint({.sizes = {std::int64_t{1} << 32}, .box = {16}}, dtype::u8), "");
  EXPECT_EQ(complaint(interleaved(tensor_interleave::bytes_16)), "");
  EXPECT_EQ(complaint(interleaved(tensor_interleave::bytes_32)), "");
  for (const tensor_type t : {tensor_type::u4x16_align8, tensor_type::u4x16_align16, tensor_type::u6x16_align16})
    EXPECT_EQ(complaint(packed(t), dtype::u8), "") << to_string(t);
  for (const dtype d : {dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f32, dtype::f64, dtype::i8, dtype::i16,
                        dtype::u16, dtype::i32, dtype::u32, dtype::i64, dtype::u64, dtype::boolean, dtype::c64})
    EXPECT_EQ(complaint({.sizes = {128, 64}, .box = {16, 8}}, d), "") << to_string(d);
}

TEST(tensor_map, has_one_to_five_axes_and_at_least_three_if_interleaved) {
  EXPECT_EQ(complaint({.sizes = {}, .box = {}}), "sizes has 0 axes; expected 1 to 5");
  EXPECT_EQ(complaint({.sizes = std::vector<extent>(6, 16), .box = std::vector<extent>(6, 16)}),
            "sizes has 6 axes; expected 1 to 5");
  EXPECT_EQ(complaint_when([](tiles& t) {
              t.swizzle = tensor_swizzle::none;
              t.interleave = tensor_interleave::bytes_16;
            }),
            "sizes has 2 axes; expected 3 to 5, because it is interleaved");
}

TEST(tensor_map, has_lists_whose_lengths_match_its_axes) {
  EXPECT_EQ(complaint_when([](tiles& t) { t.box = {64}; }), "box has 1 entry; expected 2, because sizes has 2 axes");
  EXPECT_EQ(complaint_when([](tiles& t) { t.strides = {256, 256}; }),
            "strides has 2 entries; expected 1, or none, because sizes has 2 axes");
  EXPECT_EQ(complaint_when([](tiles& t) { t.steps = {1}; }),
            "steps has 1 entry; expected 2, or none, because sizes has 2 axes");
}

TEST(tensor_map, begins_at_a_multiple_of_16_bytes_or_of_32_where_the_hardware_requires_it) {
  EXPECT_EQ(
      complaint(matrix(), dtype::f16, 0x1008),
      "buffer begins 8 bytes after a multiple of 16; expected a buffer, or a slice, that begins at such a multiple");
  EXPECT_EQ(complaint(matrix(), dtype::f16, 0x1010), "");
  EXPECT_EQ(complaint(interleaved(tensor_interleave::bytes_32), dtype::f16, 0x1010),
            "buffer begins 16 bytes after a multiple of 32; expected a buffer, or a slice, that begins at such a "
            "multiple, because "
            "interleave is bytes_32");
  EXPECT_EQ(complaint(interleaved(tensor_interleave::bytes_16), dtype::f16, 0x1010), "");
  for (const tensor_type type : {tensor_type::u4x16_align16, tensor_type::u6x16_align16})
    EXPECT_NE(complaint(packed(type), dtype::u8, 0x1010).find("begins 16 bytes after a multiple of 32"),
              std::string::npos);
  EXPECT_EQ(complaint(packed(tensor_type::u4x16_align8), dtype::u8, 0x1010), "");
}

TEST(tensor_map, has_sizes_from_1_to_2_to_the_32) {
  EXPECT_EQ(complaint_when([](tiles& t) { t.sizes[1] = 0; }), "sizes[1] is 0; expected 1 to 4294967296");
  EXPECT_EQ(complaint_when([](tiles& t) { t.sizes[1] = (std::int64_t{1} << 32) + 1; }),
            "sizes[1] is 4294967297; expected 1 to 4294967296");
  EXPECT_EQ(complaint_when([](tiles& t) { t.sizes[0] = -1; }), "sizes[0] is -1; expected 1 to 4294967296");
  const auto with_size = [](tensor_type type, std::int64_t size) {
    return complaint_when([&](tiles& t) { t.sizes[0] = size; }, dtype::u8, packed(type));
  };
  EXPECT_EQ(with_size(tensor_type::u4x16_align16, 192),
            "sizes[0] is 192; expected a multiple of 128, because type is u4x16_align16");
  EXPECT_EQ(with_size(tensor_type::u6x16_align16, 64),
            "sizes[0] is 64; expected a multiple of 128, because type is u6x16_align16");
  EXPECT_EQ(with_size(tensor_type::u4x16_align8, 255),
            "sizes[0] is 255; expected a multiple of 2, because type is u4x16_align8");
}

TEST(tensor_map, has_strides_that_are_multiples_of_16_and_below_2_to_the_40) {
  const auto with_stride = [](extent stride, tiles t = matrix()) {
    if (t.strides.empty()) t.strides = {stride};
    t.strides[0] = stride;
    return complaint(t);
  };
  EXPECT_EQ(with_stride(264), "strides[0] is 264; expected a multiple of 16");
  EXPECT_EQ(with_stride(0), "strides[0] is 0; expected 16 to 1099511627760");
  EXPECT_EQ(with_stride(std::int64_t{1} << 40), "strides[0] is 1099511627776; expected 16 to 1099511627760");
  EXPECT_EQ(with_stride(112), "strides[0] is 112; expected at least 128, the extent of the axis before it");
  EXPECT_EQ(complaint_when([](tiles& t) { t.sizes[0] = 100; }),
            "strides is empty, which means 200 bytes along axis 1; expected a multiple of 16");
  tiles wide = interleaved(tensor_interleave::bytes_32);
  wide.strides = {144, 4096};
  EXPECT_EQ(complaint(wide), "strides[0] is 144; expected a multiple of 32, because interleave is bytes_32");
  wide = packed(tensor_type::u4x16_align16);
  wide.strides = {272};
  EXPECT_EQ(complaint(wide, dtype::u8), "strides[0] is 272; expected a multiple of 32, because type is u4x16_align16");
}

TEST(tensor_map, has_boxes_from_1_to_256_whose_rows_are_multiples_of_16_bytes) {
  EXPECT_EQ(complaint_when([](tiles& t) { t.box[1] = 257; }), "box[1] is 257; expected 1 to 256");
  EXPECT_EQ(complaint_when([](tiles& t) { t.box[0] = 0; }), "box[0] is 0; expected 1 to 256");
  EXPECT_EQ(complaint_when([](tiles& t) { t.box[0] = 12; }),
            "box[0] is 12 of f16; expected a multiple of 16 bytes, 8 elements");
  tiles grouped = interleaved(tensor_interleave::bytes_16);
  grouped.box[0] = 12;
  EXPECT_EQ(complaint(grouped), "") << "the rule applies only without interleaving";
  EXPECT_EQ(complaint_when([](tiles& t) { t.box[0] = 64; }, dtype::u8, packed(tensor_type::u6x16_align16)),
            "box[0] is 64; expected 128, because type is u6x16_align16");
  EXPECT_EQ(complaint_when([](tiles& t) { t.box[0] = 16; }, dtype::u8, packed(tensor_type::u4x16_align8)),
            "box[0] is 16 of u4x16_align8; expected a multiple of 16 bytes, 32 elements");
}

TEST(tensor_map, has_steps_from_1_to_8_and_step_1_in_the_first_axis) {
  EXPECT_EQ(complaint_when([](tiles& t) { t.steps = {1, 9}; }), "steps[1] is 9; expected 1 to 8");
  EXPECT_EQ(complaint_when([](tiles& t) { t.steps = {1, 0}; }), "steps[1] is 0; expected 1 to 8");
  EXPECT_EQ(complaint_when([](tiles& t) { t.steps = {2, 1}; }),
            "steps[0] is 2; expected 1, because it is not interleaved");
  tiles grouped = interleaved(tensor_interleave::bytes_16);
  grouped.steps = {2, 1, 1};
  EXPECT_EQ(complaint(grouped), "");
}

TEST(tensor_map, has_boxes_whose_rows_fit_the_swizzle) {
  const auto with_swizzle = [](tensor_swizzle s, std::int64_t box) {
    return complaint({.sizes = {256, 8}, .box = {box, 8}, .swizzle = s});
  };
  EXPECT_EQ(with_swizzle(tensor_swizzle::bytes_32, 16), "");
  EXPECT_EQ(with_swizzle(tensor_swizzle::bytes_32, 32),
            "box[0] is 32, 64 bytes; expected at most 32 bytes, because of swizzle");
  EXPECT_EQ(with_swizzle(tensor_swizzle::bytes_64, 40),
            "box[0] is 40, 80 bytes; expected at most 64 bytes, because of swizzle");
  for (const auto s : {tensor_swizzle::bytes_128, tensor_swizzle::bytes_128_atoms_32,
                       tensor_swizzle::bytes_128_atoms_32_flip_8, tensor_swizzle::bytes_128_atoms_64}) {
    EXPECT_EQ(with_swizzle(s, 64), "");
    EXPECT_EQ(with_swizzle(s, 72), "box[0] is 72, 144 bytes; expected at most 128 bytes, because of swizzle");
  }
  EXPECT_EQ(with_swizzle(tensor_swizzle::none, 256), "");
  tiles grouped = interleaved(tensor_interleave::bytes_32);
  grouped.swizzle = tensor_swizzle::bytes_64;
  EXPECT_EQ(complaint(grouped), "interleave is bytes_32, and swizzle is not; expected swizzle bytes_32");
  grouped = interleaved(tensor_interleave::bytes_16);
  grouped.swizzle = tensor_swizzle::bytes_32;
  grouped.box[0] = 64;
  EXPECT_EQ(complaint(grouped), "") << "interleaved tensors allow any swizzle";
}

TEST(tensor_map, packed_numbers_allow_only_their_swizzles) {
  using enum tensor_swizzle;
  const auto refused = [](tensor_type type, tensor_swizzle s) {
    tiles t = packed(type);
    t.swizzle = s;
    return !complaint(t, dtype::u8).empty();
  };
  for (const auto type : {tensor_type::u4x16_align16, tensor_type::u6x16_align16}) {
    for (const auto s : {none, bytes_128, bytes_128_atoms_32}) EXPECT_FALSE(refused(type, s));
    for (const auto s : {bytes_32, bytes_64, bytes_128_atoms_32_flip_8}) EXPECT_TRUE(refused(type, s));
  }
  EXPECT_TRUE(refused(tensor_type::u4x16_align16, bytes_128_atoms_64));
  EXPECT_FALSE(refused(tensor_type::u6x16_align16, bytes_128_atoms_64));
  tiles t = interleaved(tensor_interleave::bytes_16);
  t.type = tensor_type::u6x16_align16;
  EXPECT_EQ(complaint(t, dtype::u8), "type is u6x16_align16, and interleave is not none; expected interleave none");
}

TEST(tensor_map, fills_with_nan_only_if_its_type_has_nan) {
  const auto filled = [](dtype d) {
    return complaint({.sizes = {128, 64}, .box = {16, 8}, .fill = tensor_fill::nan_for_zero_fma}, d);
  };
  for (const dtype d : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) EXPECT_EQ(filled(d), "");
  EXPECT_EQ(filled(dtype::i32),
            "fill is nan_for_zero_fma and type is i32; expected zero, or a type of floating-point numbers");
  EXPECT_NE(complaint_when([](tiles& t) { t.fill = tensor_fill::nan_for_zero_fma; }, dtype::u8,
                           packed(tensor_type::u4x16_align8)),
            "");
}

TEST(tensor_map, is_refused_if_its_type_differs_in_size_from_the_buffers_elements) {
  const auto with_type = [](tensor_type type, dtype element) {
    return complaint({.sizes = {128, 64}, .box = {16, 8}, .type = type}, element);
  };
  for (const auto type : {tensor_type::f32_ftz, tensor_type::tf32, tensor_type::tf32_ftz, tensor_type::u32})
    EXPECT_EQ(with_type(type, dtype::f32), "");
  EXPECT_EQ(with_type(tensor_type::tf32, dtype::f64),
            "type is tf32, but the buffer's elements are f64; expected elements of 4 bytes");
  EXPECT_EQ(with_type(tensor_type::u4x16_align8, dtype::f16),
            "type is u4x16_align8, but the buffer's elements are f16; expected elements of 1 byte");
  EXPECT_EQ(
      with_type(tensor_type::of_the_elements, dtype::c128),
      "buffer has elements of type c128; expected a type that the accelerator supports, or field type set to one");
}

TEST(tensor_map, is_refused_for_values_that_no_enumeration_has) {
  EXPECT_EQ(complaint_when([](tiles& t) { t.type = static_cast<tensor_type>(17); }),
            "type is 17; expected u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, "
            "u4x16_align8, u4x16_align16, u6x16_align16 or of_the_elements");
  EXPECT_EQ(complaint_when([](tiles& t) { t.interleave = static_cast<tensor_interleave>(3); }),
            "interleave is 3; expected none, bytes_16 or bytes_32");
  EXPECT_EQ(complaint_when([](tiles& t) { t.swizzle = static_cast<tensor_swizzle>(7); }),
            "swizzle is 7; expected none, bytes_32, bytes_64, bytes_128, bytes_128_atoms_32, "
            "bytes_128_atoms_32_flip_8 or bytes_128_atoms_64");
  EXPECT_EQ(complaint_when([](tiles& t) { t.promotion = static_cast<tensor_promotion>(4); }),
            "promotion is 4; expected none, bytes_64, bytes_128 or bytes_256");
  EXPECT_EQ(complaint_when([](tiles& t) { t.fill = static_cast<tensor_fill>(2); }),
            "fill is 2; expected zero or nan_for_zero_fma");
}

TEST(tensor_map, must_lie_within_its_buffer) {
  const std::uint64_t whole = 128 * 64 * 2;
  EXPECT_EQ(complaint(matrix(), dtype::f16, address, whole), "");
  EXPECT_EQ(complaint(matrix(), dtype::f16, address, whole - 1),
            "buffer holds 16383 bytes; expected the 16384 bytes that sizes and strides span");
  tiles t = matrix();
  t.strides = {272};
  const std::uint64_t padded = 63 * 272 + 256;  // the last row needs no padding
  EXPECT_EQ(complaint(t, dtype::f16, address, padded), "");
  EXPECT_NE(complaint(t, dtype::f16, address, padded - 1), "");
  t = {.sizes = std::vector<extent>(5, std::int64_t{1} << 32),
       .box = {16, 1, 1, 1, 1},
       .strides = std::vector<extent>(4, (std::int64_t{1} << 40) - 16)};
  EXPECT_NE(complaint(t, dtype::u8), "") << "the span overflows";
}

TEST(tensor_map, is_sent_with_omitted_fields_filled_in) {
  const tensor_layout l = layout_of(matrix(), dtype::f16);
  EXPECT_EQ(l.type, tensor_type::f16);
  EXPECT_EQ(l.rank, 2);
  EXPECT_EQ(l.sizes[0], 128u);
  EXPECT_EQ(l.sizes[1], 64u);
  EXPECT_EQ(l.strides[0], 256u);
  EXPECT_EQ(l.box[0], 64u);
  EXPECT_EQ(l.box[1], 8u);
  EXPECT_EQ(l.steps[1], 1u);
  EXPECT_EQ(l.swizzle, tensor_swizzle::bytes_128);
  const tensor_layout deep = layout_of({.sizes = {32, 3, 5}, .box = {32, 1, 2}, .type = tensor_type::tf32}, dtype::f32);
  EXPECT_EQ(deep.type, tensor_type::tf32);
  EXPECT_EQ(deep.strides[0], 128u);
  EXPECT_EQ(deep.strides[1], 128u * 3);
  EXPECT_EQ(layout_of(packed(tensor_type::u6x16_align16), dtype::u8).strides[0], 192u);
}

}  // namespace
}  // namespace troupe::kernel
