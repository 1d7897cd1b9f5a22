// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks that the kind of a problem has what is in the key of its plan, and nothing else.
#include <gtest/gtest.h>

#include <functional>
#include <troupe/cutlass/variants/problem_kinds.hpp>
#include <troupe/cutlass/variants/signature.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::acc, epilogue::expression, epilogue::op;

template <class P>
std::string key_of(const P& p) {
  std::string out;
  write_key(out, p);
  return out;
}
std::string key_of_kernel(const problem& p) {
  std::string out;
  signature_of(p).write_key(out);
  return out;
}

class encoded_epilogue {
 public:
  explicit encoded_epilogue(const expression& e) : bytes_(e.encoded_bytes()) { e.encode(bytes_.data()); }
  epilogue::tree get() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<std::byte> bytes_;
};
encoded_epilogue scaled_sum(double number, std::uint64_t address) {
  const memory_range range{{}, address, 1 << 20};
  return encoded_epilogue(
      number * acc +
      expression::reading(
          op::load,
          {.range = range, .shape = {96, 64, 64, 1}, .type = dtype::f16, .batch = 3, .batch_stride = 96 * 64}));
}

problem product(const encoded_epilogue& e) {
  problem p;
  p.a = {1 << 20, dtype::f16, 128, 1, 96 * 128}, p.b = {(1 << 21) + 8, dtype::f16, 128, 1, 0};
  p.d = {(1 << 22) + 2, dtype::f16, 64, 1, 96 * 64};
  p.m = 96, p.n = 64, p.k = 128, p.batch = 3;
  p.sums = dtype::f32, p.tree = e.get();
  return p;
}

TEST(cutlass_product_kind, has_the_key_and_the_signature_of_the_problem) {
  const auto e = scaled_sum(2, 1 << 23);
  problem p = product(e);
  p.first = 1;
  p.a_scales.address = 300, p.a_scales.type = dtype::f32;
  p.options.accumulation = accumulation::fast;
  const product_kind kind(p);
  EXPECT_EQ(key_of(kind.get()), key_of(p));
  EXPECT_EQ(key_of_kernel(kind.get()), key_of_kernel(p));
}

TEST(cutlass_product_kind, keeps_the_strides_of_an_operand_that_several_nodes_read) {
  const expression::memory_operand bias{
      .range = {{}, 1 << 23, 1 << 20}, .shape = {1, 64, 64, 1}, .type = dtype::f32, .batch = 1, .batch_stride = 0};
  const expression row = expression::reading(op::load_row, bias), number = expression::reading(op::load_number, bias);
  for (const expression& e : {row + number * acc, number * acc + row}) {
    const encoded_epilogue encoded(e);
    const problem p = product(encoded);
    ASSERT_EQ(p.tree.memory().size(), 1u);
    const product_kind kind(p);
    EXPECT_EQ(key_of(kind.get()), key_of(p)) << to_string(e);
    EXPECT_EQ(key_of_kernel(kind.get()), key_of_kernel(p)) << to_string(e);
  }
}

TEST(cutlass_product_kind, has_no_more_of_addresses_and_numbers_than_their_alignment) {
  const auto e = scaled_sum(2, 1 << 23), other = scaled_sum(3, 1 << 24);
  const problem p = product(e);
  problem q = product(other);
  q.a.address += 16, q.d.address += 32;
  EXPECT_EQ(key_of(p), key_of(q));
  const product_kind x(p), y(q);
  EXPECT_EQ(x.get().a.address, y.get().a.address);
  EXPECT_EQ(x.get().d.address, y.get().d.address);
  EXPECT_EQ(x.get().tree.memory()[0].address, y.get().tree.memory()[0].address);
  EXPECT_EQ(x.get().tree.numbers()[0], y.get().tree.numbers()[0]);
}

TEST(cutlass_product_kind, has_a_key_of_its_own_for_each_property_of_a_problem) {
  const auto e = scaled_sum(2, 1 << 23);
  const problem p = product(e);
  const std::function<void(problem&)> changes[] = {
      [](problem& q) { q.a.line = 256; },
      [](problem& q) { q.b.address += 2; },
      [](problem& q) { q.b.batch = 64 * 128; },
      [](problem& q) { q.d.row = 128; },
      [](problem& q) { q.m = 95; },
      [](problem& q) { q.batch = 2; },
      [](problem& q) { q.a.type = dtype::f8e4m3; },
      [](problem& q) { q.groups.sizes = 1 << 25; },
      [](problem& q) { q.a_scales.address = 256; },
      [](problem& q) { q.options.precision = precision::tf32; },
      [](problem& q) { q.options.accumulation = accumulation::fast; },
  };
  for (const auto& change : changes) {
    problem q = p;
    change(q);
    EXPECT_NE(key_of(q), key_of(p)) << &change - changes;
  }
}

TEST(cutlass_convolution_problem_kind, has_the_key_of_the_problem_and_no_addresses) {
  const auto e = scaled_sum(2, 1 << 23), other = scaled_sum(3, 1 << 24);
  convolution_problem p;
  p.x = {1 << 20, dtype::f16, 64, 1, {0, 8, 4}}, p.filters = {1 << 21, dtype::f16, 16, 1, {0, 8, 4}};
  p.y = {(1 << 22) + 8, dtype::f16, 64, 1, {0, 8, 4}};
  p.images = 3, p.channels_of_group = p.filters_of_group = 4, p.sums = dtype::f32, p.tree = e.get();
  convolution_problem q = p;
  q.x.address = 1 << 25, q.tree = other.get();
  const convolution_problem_kind x(p), y(q);
  EXPECT_EQ(key_of(x.get()), key_of(p));
  EXPECT_EQ(key_of(q), key_of(p));
  EXPECT_EQ(x.get().x.address, y.get().x.address);
  EXPECT_EQ(x.get().tree.numbers()[0], y.get().tree.numbers()[0]);
  q.y.address += 8;
  EXPECT_NE(key_of(q), key_of(p));
}

}  // namespace
}  // namespace troupe::cutlass
