// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/request/encoding/codec.hpp>
#include <troupe/request/operands/any_operand_list.hpp>
#include <troupe/request/request.hpp>
#include <vector>

namespace troupe::request_tests {
namespace {

struct views {
  in_any a;
  std::optional<in_any> b = {};
  std::optional<out_any> c = {};
  std::int32_t last = 0;
  TROUPE_REQUEST("test.views", a, b, c, last)
  void check(checker&) const {}
};

struct many_views {
  list<in_any> a;
  list<out_any> b = {};
  std::int32_t last = 0;
  TROUPE_REQUEST("test.many_views", a, b, last)
  void check(checker&) const {}
};

tensor_shape shape_of(std::size_t rank) {
  tensor_shape s{.rank = rank};
  for (std::size_t i = 0; i < rank; ++i) {
    s.extents[i] = static_cast<std::int64_t>(i + 2);
    s.strides[i] = static_cast<std::int64_t>(10 * i + 1);
  }
  return s;
}

template <access_mode M>
any_operand<M> view(std::uint64_t address, std::size_t rank, dtype t) {
  return {memory_range{{}, address, 4096}, shape_of(rank), t};
}

// Encodes and decodes the request, as a worker receives it.
template <class R>
R received(const R& r) {
  static std::vector<std::max_align_t> blob;
  blob.assign(blob_bytes(r) / sizeof(std::max_align_t) + 1, {});
  alignas(16) static std::byte payload[payload_bytes<R>];
  encode(r, payload, {reinterpret_cast<std::byte*>(blob.data()), reinterpret_cast<std::uintptr_t>(blob.data())});
  return decode<R>(payload);
}

template <access_mode M>
void expect_same(const any_operand<M>& got, const any_operand<M>& sent) {
  EXPECT_EQ(got.range().address, sent.range().address);
  EXPECT_EQ(got.range().bytes, sent.range().bytes);
  EXPECT_EQ(got.shape(), sent.shape());
  EXPECT_EQ(got.type(), sent.type());
}

TEST(any_operands, are_unchanged_by_encoding_with_every_number_of_axes) {
  for (std::size_t rank = 0; rank <= tensor_shape::max_rank; ++rank) {
    const views r{.a = view<access_mode::read>(0x1000, rank, dtype::bf16), .last = 7};
    const views got = received(r);
    expect_same(got.a, r.a);
    EXPECT_FALSE(got.b);
    EXPECT_FALSE(got.c);
    EXPECT_EQ(got.last, 7);
  }
}

TEST(any_operands, are_unchanged_by_encoding_if_they_are_optional) {
  for (const std::size_t rank : {2, 3, 4, 8}) {
    const views r{.a = view<access_mode::read>(0x1000, rank, dtype::f32),
                  .b = view<access_mode::read>(0x3000, 10 - rank, dtype::f8e4m3),
                  .c = view<access_mode::write>(0x5000, rank, dtype::c128),
                  .last = 9};
    const views got = received(r);
    expect_same(got.a, r.a);
    ASSERT_TRUE(got.b && got.c);
    expect_same(*got.b, *r.b);
    expect_same(*got.c, *r.c);
    EXPECT_EQ(got.last, 9);
  }
}

TEST(any_operands, keep_their_order_and_shapes_in_lists) {
  for (const std::size_t count : {0, 1, 3, 40}) {
    many_views r{.a = {}, .last = 5};
    for (std::size_t i = 0; i < count; ++i) {
      r.a.push_back(view<access_mode::read>(0x1000 * (i + 1), i % (tensor_shape::max_rank + 1), dtype::i8));
      r.b.push_back(view<access_mode::write>(0x7000 * (i + 1), (i + 4) % (tensor_shape::max_rank + 1), dtype::f64));
    }
    const many_views got = received(r);
    ASSERT_EQ(got.a.size(), count);
    ASSERT_EQ(got.b.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      expect_same(got.a[i], r.a[i]);
      expect_same(got.b[i], r.b[i]);
    }
    EXPECT_EQ(got.last, 5);
  }
}

TEST(any_operands, in_lists_are_operands_of_their_request) {
  const many_views r{
      .a = {view<access_mode::read>(0x1000, 2, dtype::f32), view<access_mode::read>(0x2000, 3, dtype::f16)},
      .b = {view<access_mode::write>(0x3000, 2, dtype::i8)}};
  EXPECT_EQ(field_name<many_views>(&r, &r.a[1]), "a[1]");
  EXPECT_EQ(field_name<many_views>(&r, &r.b[0]), "b[0]");
  std::vector<std::uint64_t> bytes;
  const auto note = [&](const void*, const memory_range&, std::uint64_t element_bytes, access_mode) {
    bytes.push_back(element_bytes);
  };
  operands_in<list<in_any>>::visit(r.a, note);
  EXPECT_EQ(bytes, (std::vector<std::uint64_t>{4, 2}));
}

}  // namespace
}  // namespace troupe::request_tests
