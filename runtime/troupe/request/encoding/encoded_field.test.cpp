// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/request/checker.hpp>
#include <troupe/request/encoding/encoded_field.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <troupe/request/operands/scalar.hpp>

namespace troupe {
namespace {

template <class T>
struct blend {
  in<T> x;
  extent n;
  list<in<double>> parts;
  scalar<float> alpha;
  std::optional<in<T>> mask;
  out_any y;
  text note;
  TROUPE_REQUEST("test.blend", x, n, parts, alpha, mask, y, note)
  void check(checker&) const {}
};

constexpr std::uint64_t memory = 0x2000'0000'0000, workers_blob = 0x3000'0000'0000;

tensor_shape matrix_of(std::int64_t rows, std::int64_t columns) {
  tensor_shape s{.rank = 2};
  s.extents[0] = rows, s.extents[1] = columns, s.strides[0] = columns, s.strides[1] = 1;
  return s;
}

TEST(encoded_fields, list_the_operands_with_names_types_and_addresses) {
  list<in<double>> parts;
  for (const std::uint64_t i : {1, 2}) parts.push_back(in<double>(memory + 0x1000 * i, 10 * i));
  const blend<float> r{.x = in<float>(memory, 100),
                       .n = 100,
                       .parts = std::move(parts),
                       .alpha = 2.f,
                       .mask = {},
                       .y = {memory_range{{}, memory + 0x5000, 48}, matrix_of(4, 3), dtype::i32},
                       .note = "a text that is in the blob as well"};
  alignas(8) std::array<std::byte, payload_bytes<blend<float>>> payload;
  std::vector<std::byte> blob(blob_bytes(r));
  encode(r, payload.data(), {blob.data(), workers_blob});
  std::string all;
  const auto operands =
      operands_of(encoded_fields_of<blend<float>>, blend<float>::request_fields, payload, workers_blob, blob);
  for (const encoded_operand& o : operands) all += to_string(o) + "\n";
  EXPECT_EQ(all, "x (f32[100])\nparts[0] (f64[10])\nparts[1] (f64[20])\ny (i32[12])\n");
  ASSERT_EQ(operands.size(), 4u);
  EXPECT_EQ(operands[2].address, memory + 0x2000);
  EXPECT_EQ(operands[2].bytes, 160u);
}

TEST(sent_memory, is_found_by_its_address_in_the_worker) {
  std::array<std::byte, 16> here{};
  sent_memory all;
  all.add(memory, here);
  EXPECT_EQ(all.at(memory + 5).data(), here.data() + 5);
  EXPECT_EQ(all.at(memory + 5).size(), 11u);
  EXPECT_TRUE(all.at(memory + 16).empty());
  EXPECT_TRUE(all.at(memory - 1).empty());
}

}  // namespace
}  // namespace troupe
