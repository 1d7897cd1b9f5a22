// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/base/half.hpp>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/typed_kernel.hpp>

namespace troupe::kernel {
namespace {

struct large {
  double values[5];
};

// Encodes and decodes the arguments, and returns them as the worker sees them.
std::vector<arguments::decoded> sent(const arguments& a, std::vector<std::byte>& payload,
                                     std::vector<std::byte>& blob) {
  using codec = field_codec<arguments>;
  payload.resize(codec::size);
  blob.resize(codec::blob_bytes(a) + 1);
  blob_cursor cursor{blob.data(), reinterpret_cast<std::uintptr_t>(blob.data())};
  codec::encode(a, payload.data(), cursor);
  const arguments there = codec::decode(payload.data());
  std::vector<arguments::decoded> out;
  there.for_each([&](const arguments::decoded& s) { out.push_back(s); });
  EXPECT_EQ(there.size(), a.size());
  return out;
}
template <class T>
T value(const arguments::decoded& s) {
  T v;
  std::memcpy(&v, s.content, sizeof v);
  return v;
}

TEST(kernel_arguments, arrive_with_their_types_values_and_addresses) {
  const in<float> x(0x1000, 10);
  const out<half> y(0x2000, 20);
  const inout<large> z(0x3000, 3);
  std::vector<std::byte> payload, blob;
  const auto all = sent({2.5f, x, y, z, large{{1, 2, 3, 4, 5}}, true, extent(7)}, payload, blob);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].is, argument::kind::value);
  EXPECT_EQ(all[0].type, dtype::f32);
  EXPECT_EQ(value<float>(all[0]), 2.5f);
  EXPECT_EQ(all[1].is, argument::kind::read);
  EXPECT_EQ(all[1].elements, 10u);
  EXPECT_EQ(value<std::uint64_t>(all[1]), 0x1000u);
  EXPECT_EQ(all[2].is, argument::kind::write);
  EXPECT_EQ(all[2].type, dtype::f16);
  EXPECT_EQ(all[3].is, argument::kind::read_write);
  EXPECT_EQ(all[3].type, dtype{});
  EXPECT_EQ(all[3].bytes, sizeof(large));
  EXPECT_EQ(all[3].elements, 3u);
  EXPECT_EQ(value<large>(all[4]).values[4], 5);
  EXPECT_EQ(all[4].alignment, alignof(large));
  EXPECT_EQ(all[5].type, dtype::boolean);
  EXPECT_EQ(all[6].type, dtype::i64);
  EXPECT_EQ(value<std::int64_t>(all[6]), 7);
}

TEST(kernel_arguments, pass_tensor_maps_with_the_access_to_their_buffers) {
  const tensor_map loaded(in<half>(0x1000, 8192), {.sizes = {128, 64}, .box = {64, 8}}),
      stored(out<float>(0x8000, 4096), {.sizes = {64, 64}, .box = {32, 8}, .swizzle = tensor_swizzle::bytes_128});
  const arguments a{1.0f, loaded, stored};
  std::vector<std::byte> payload, blob;
  const auto all = sent(a, payload, blob);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].is, argument::kind::map);
  EXPECT_EQ(all[1].mode, access_mode::read);
  EXPECT_EQ(value<std::uint64_t>(all[1]), 0x1000u);
  EXPECT_EQ(all[1].elements, 8192u);
  EXPECT_EQ(all[1].map->type, tensor_type::f16);
  EXPECT_EQ(all[1].map->strides[0], 256u);
  EXPECT_EQ(all[2].mode, access_mode::write);
  EXPECT_EQ(all[2].map->swizzle, tensor_swizzle::bytes_128);
  std::vector<std::pair<std::uint64_t, access_mode>> operands;
  operands_in<arguments>::visit(a, [&](const void*, const memory_range& r, std::uint64_t, access_mode mode) {
    operands.emplace_back(r.address, mode);
  });
  EXPECT_EQ(operands, (std::vector<std::pair<std::uint64_t, access_mode>>{{0x1000, access_mode::read},
                                                                          {0x8000, access_mode::write}}));
  const argument moved = a.list()[1].at(in<half>(0x4000, 8192).range());
  EXPECT_EQ(moved.is(), argument::kind::map) << "another buffer does not change the map";
  EXPECT_EQ(moved.range().address, 0x4000u);
}

TEST(kernel_arguments, are_encoded_in_the_fixed_part_if_few_and_in_the_blob_if_many) {
  for (std::size_t count : {0u, 1u, 14u, 15u, 16u, 100u}) {
    std::vector<argument> list;
    for (std::size_t i = 0; i < count; ++i) list.emplace_back(static_cast<double>(i));
    std::vector<std::byte> payload, blob;
    const arguments a(list);
    EXPECT_EQ(field_codec<arguments>::blob_bytes(a) == 0, count <= 15) << count;
    const auto all = sent(a, payload, blob);
    ASSERT_EQ(all.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(value<double>(all[i]), static_cast<double>(i));
  }
}

TEST(kernel_arguments, the_index_of_a_buffer_counts_all_arguments_before_it) {
  const arguments a{1, in<float>(0x1000, 1), 2, in<float>(0x2000, 1)};
  std::vector<std::size_t> numbers;
  operands_in<arguments>::visit(
      a, [&](const void* place, const auto&...) { numbers.push_back(operands_in<arguments>::index_of(a, place)); });
  EXPECT_EQ(numbers, (std::vector<std::size_t>{1, 3}));
}

TEST(kernel_arguments, have_the_buffers_whose_addresses_are_in_a_struct_as_operands) {
  struct pair {
    const float* x;
    float* y;
  };
  const in<float> x(0x1000, 10);
  const inout<float> y(0x2000, 20);
  const arguments a{1, with_buffers(pair{device_pointer(x), device_pointer(y)}, x, y), nullptr};
  std::vector<std::byte> payload, blob;
  const auto all = sent(a, payload, blob);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].is, argument::kind::value);
  EXPECT_EQ(value<pair>(all[1]).y, reinterpret_cast<float*>(0x2000));
  EXPECT_EQ(all[2].is, argument::kind::null);
  EXPECT_EQ(value<void*>(all[2]), nullptr);
  std::vector<std::pair<std::size_t, access_mode>> operands;
  operands_in<arguments>::visit(a, [&](const void* place, const memory_range&, std::uint64_t, access_mode mode) {
    operands.emplace_back(operands_in<arguments>::index_of(a, place), mode);
  });
  EXPECT_EQ(operands,
            (std::vector<std::pair<std::size_t, access_mode>>{{1, access_mode::read}, {1, access_mode::read_write}}));
}

// Checks that wrong arguments of a typed kernel do not compile.
struct any_launch {
  function kernel;
  dimensions grid, block;
  extent shared_bytes;
  kernel::arguments arguments;
};
using saxpy = typed_kernel<any_launch, void(float, in<float>, inout<float>, std::optional<out<int>>, int)>;
using sized = decltype(std::declval<const saxpy&>()(1, 1));
using floats = buffer<float>;
static_assert(std::is_invocable_v<sized, float, floats, floats, buffer<int>, int>);
static_assert(std::is_invocable_v<sized, float, in<float>, inout<float>, std::nullopt_t, int>);
static_assert(!std::is_invocable_v<sized, float, buffer<double>, floats, buffer<int>, int>);
static_assert(!std::is_invocable_v<sized, float, in<float>, in<float>, buffer<int>, int>);
static_assert(!std::is_invocable_v<sized, float, floats, floats, buffer<int>>);
static_assert(!std::is_invocable_v<sized, floats, floats, floats, buffer<int>, int>);
static_assert(std::is_invocable_v<sized, float, floats, floats, std::nullptr_t, int>);
static_assert(!std::is_invocable_v<sized, float, std::nullptr_t, floats, buffer<int>, int>);
static_assert(std::is_invocable_v<sized, float, floats, floats, buffer<int>, extent>);
// A number must not be converted to a narrower type.
static_assert(!std::is_invocable_v<sized, double, floats, floats, buffer<int>, int>);
static_assert(!std::is_invocable_v<sized, float, floats, floats, buffer<int>, std::size_t>);
static_assert(!std::is_invocable_v<sized, float, floats, floats, buffer<int>, double>);
static_assert(std::is_invocable_v<sized, float, floats, floats, buffer<int>, short>);
static_assert(std::is_invocable_v<sized, short, floats, floats, buffer<int>, int>);
static_assert(!std::is_invocable_v<sized, int, floats, floats, buffer<int>, int>);
static_assert(is_kept_by<int, double> && !is_kept_by<long long, double> && !is_kept_by<double, float>);
struct pair_of_pointers {
  const float* x;
  float* y;
};
using holding = typed_kernel<any_launch, void(with<pair_of_pointers>, pair_of_pointers)>;
using sized_holding = decltype(std::declval<const holding&>()(1, 1));
static_assert(std::is_invocable_v<sized_holding, with<pair_of_pointers>, pair_of_pointers>);
static_assert(!std::is_invocable_v<sized_holding, pair_of_pointers, pair_of_pointers>);
static_assert(!std::is_invocable_v<sized_holding, with<int>, pair_of_pointers>);

TEST(typed_kernels, can_be_temporary_objects_or_empty_handles) {
  const any_launch l =
      saxpy(function(program(), std::string("f")))(3, 4)(1.f, in<float>(0, 1), inout<float>(8, 1), nullptr, extent(5));
  EXPECT_EQ(l.kernel.name(), "f");
  EXPECT_EQ(l.grid, dimensions(3));
  EXPECT_EQ(l.arguments.size(), std::size_t{5});
  EXPECT_EQ(saxpy().untyped().name(), "");
}

TEST(launch_dimensions, are_made_from_one_to_three_numbers) {
  EXPECT_EQ(dimensions(5), dimensions(5, 1, 1));
  EXPECT_EQ((dimensions{2, 3}), dimensions(2, 3, 1));
  EXPECT_EQ(dimensions(extent(7)).x, extent(7));
}

TEST(launch_dimensions, count_the_blocks_that_cover_a_number_of_elements) {
  EXPECT_EQ(blocks_for(1, 256), extent(1));
  EXPECT_EQ(blocks_for(256, 256), extent(1));
  EXPECT_EQ(blocks_for(257, 256), extent(2));
  EXPECT_EQ(blocks_for(INT64_MAX, 2), extent(std::int64_t{1} << 62));
  EXPECT_EQ(blocks_for(0, 256), extent(0));  // a launch refuses this
  EXPECT_TRUE(blocks_for(extent::overflow(), 256).overflowed());
}

}  // namespace
}  // namespace troupe::kernel
