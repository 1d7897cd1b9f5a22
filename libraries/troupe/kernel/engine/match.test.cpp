// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/kernel/engine/match.hpp>

namespace troupe::kernel {
namespace {

struct pair_of_floats {
  float a, b;
};

// Returns the error for arguments of a kernel k with these parameters, or an empty text. The arguments are encoded as a
// worker receives them.
std::string answer(const std::vector<parameter_attributes>& parameters, const arguments& given,
                   argument_frame::map_maker make_map = nullptr, void* descriptor = nullptr) {
  std::vector<std::byte> bytes(given.encoded_bytes());
  given.encode(bytes.data());
  argument_frame frame;
  const auto done = frame.fill(arguments::view(bytes.data(), static_cast<std::uint32_t>(given.size())), "k", parameters,
                               "jit.launch", make_map);
  if (done && descriptor != nullptr) std::memcpy(descriptor, frame.addresses()[given.size() - 1], 128);
  return done ? "" : done.error().text();
}

parameter_attributes of_size(std::uint64_t bytes) { return {"", passing::unknown, dtype{}, bytes, 0}; }

TEST(matched_arguments, fit_a_parameter_of_known_size_and_unknown_type_if_their_sizes_match) {
  EXPECT_EQ(answer({of_size(4)}, {1.0f}), "");
  EXPECT_EQ(answer({of_size(4)}, {7}), "");
  EXPECT_EQ(answer({of_size(8)}, {pair_of_floats{1, 2}}), "");
  EXPECT_EQ(answer({of_size(8)}, {7}),
            "jit.launch: argument 0 is i32, but parameter 0 of k is 8 bytes of unknown type; 4 "
            "bytes do not fit");
  EXPECT_EQ(answer({of_size(8), of_size(4)}, {1.0}),
            "jit.launch: 1 argument was given, but k has 2 parameters (8 bytes of unknown type, "
            "4 bytes of unknown type)");
}

TEST(matched_arguments, fit_a_struct_of_unknown_alignment_if_their_sizes_match) {
  const parameter_attributes p{"pair_of_floats", passing::value, dtype{}, 8, 0};
  EXPECT_EQ(answer({p}, {pair_of_floats{1, 2}}), "");
  struct three {
    float a, b, c;
  };
  EXPECT_EQ(answer({p}, {three{}}),
            "jit.launch: argument 0 is a struct of 12 bytes, aligned to 4, but parameter 0 of k is `pair_of_floats`; "
            "expected a struct of 8 bytes");
}

const parameter_attributes pointer{"float *", passing::pointer, dtype::f32, 4, 4},
    const_pointer{"float const *", passing::const_pointer, dtype::f32, 4, 4},
    number{"int", passing::value, dtype::i32, 4, 4};

TEST(matched_arguments, plain_buffers_fit_only_pointers_to_const_and_in_fits_any_pointer) {
  const in<float> x(0x1000, 4);
  const buffer<float> plain;
  EXPECT_EQ(answer({const_pointer}, {x}), "");
  EXPECT_EQ(answer({pointer}, {x}), "");
  EXPECT_EQ(answer({const_pointer}, {plain}), "");
  EXPECT_EQ(answer({pointer}, {plain}),
            "jit.launch: argument 0 is f32[0], but parameter 0 of k is `float*`, which it may write; pass inout(y) or "
            "out(y), or in(x) if this kernel only reads it");
  EXPECT_EQ(
      answer({const_pointer}, {inout<float>(0x1000, 4)}),
      "jit.launch: argument 0 is inout(f32[4]), but parameter 0 of k is `float const*`, which it only reads; pass "
      "in(x)");
}

TEST(matched_arguments, null_fits_any_pointer_and_nothing_else) {
  EXPECT_EQ(answer({pointer, const_pointer, of_size(8)}, {nullptr, nullptr, nullptr}), "");
  EXPECT_EQ(answer({pointer}, {std::optional<inout<float>>()}), "");
  EXPECT_EQ(answer({number}, {nullptr}),
            "jit.launch: argument 0 is a null pointer, but parameter 0 of k is `int`, a value; pass it by value");
}

// Stands for the driver's descriptor.
struct alignas(64) descriptor {
  std::uint64_t address, sizes[15];
};
std::string write_descriptor(const tensor_layout& map, std::uint64_t address, void* to) {
  if (map.rank != 2) return "is a tensor map that the test refuses";
  if (reinterpret_cast<std::uintptr_t>(to) % 64 != 0) return "is not aligned";
  descriptor d{.address = address, .sizes = {map.sizes[0], map.sizes[1]}};
  std::memcpy(to, &d, sizeof d);
  return {};
}

TEST(matched_arguments, tensor_maps_become_descriptors_passed_by_value) {
  const parameter_attributes p{"CUtensorMap_st", passing::value, dtype{}, 128, 0};
  const tensor_map map(in<float>(0x1000, 4096), {.sizes = {64, 32}, .box = {32, 8}});
  descriptor d{};
  // The frame must align descriptors at an odd offset and in a large frame, too, because the driver requires alignment.
  EXPECT_EQ(answer({of_size(1), p}, {true, map}, &write_descriptor, &d), "");
  EXPECT_EQ(d.address, 0x1000u);
  EXPECT_EQ(d.sizes[0], 64u);
  struct large {
    std::byte bytes[2000];
  };
  EXPECT_EQ(answer({of_size(2000), of_size(1), of_size(128)}, {large{}, true, map}, &write_descriptor, &d), "");
  EXPECT_EQ(d.sizes[1], 32u);
}

TEST(matched_arguments, tensor_maps_fit_only_a_tensor_map_parameter) {
  const tensor_map map(in<float>(0x1000, 4096), {.sizes = {64, 32}, .box = {32, 8}}),
      cube(in<float>(0x1000, 4096), {.sizes = {64, 32, 2}, .box = {32, 8, 1}});
  EXPECT_EQ(answer({{"float const *", passing::const_pointer, dtype::f32, 4, 4}}, {map}, &write_descriptor),
            "jit.launch: argument 0 is a tensor map, but parameter 0 of k is `float const*`; expected `const "
            "__grid_constant__ CUtensorMap`");
  EXPECT_NE(answer({of_size(64)}, {map}, &write_descriptor), "");
  EXPECT_EQ(answer({of_size(128)}, {cube}, &write_descriptor),
            "jit.launch: argument 0 is a tensor map that the test refuses");
  EXPECT_EQ(
      answer({{"CUtensorMap_st", passing::value, dtype{}, 128, 0}}, {in<float>(0x1000, 4)}),
      "jit.launch: argument 0 is in(f32[4]), but parameter 0 of k is `CUtensorMap_st`, a value; pass it by value");
}

TEST(matched_arguments, the_first_tensor_map_is_found) {
  const auto first = [](const arguments& given) {
    std::vector<std::byte> bytes(given.encoded_bytes());
    given.encode(bytes.data());
    return first_map_in(arguments::view(bytes.data(), static_cast<std::uint32_t>(given.size())));
  };
  const tensor_map map(in<float>(0x1000, 4096), {.sizes = {64, 32}, .box = {32, 8}});
  EXPECT_EQ(first({1, in<float>(0x1000, 4)}), std::nullopt);
  EXPECT_EQ(first({1, map, map}), std::optional<std::size_t>(1));
}

}  // namespace
}  // namespace troupe::kernel
