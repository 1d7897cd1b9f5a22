// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/testing/encoding.hpp>
#include <troupe/dnn/testing/rounding_spread.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

// Builds graphs, and examines their results with `rounding_spread`.
class dnn_roundings : public ::testing::Test {
 protected:
  template <class T>
  std::uint16_t given(const std::vector<T>& memory, dtype type) {
    return e.at(memory.data(), type, dense({static_cast<std::int64_t>(memory.size())}));
  }
  std::uint16_t sum(std::uint16_t a, std::uint16_t b) {
    const std::uint16_t to = e.intermediate({elements_of(e.tensors[a].shape)});
    e.node(op::pointwise, {a, b}, {to}, pointwise_attributes{epilogue::op::add, {}});
    return to;
  }
  std::uint16_t converted(std::uint16_t x, dtype type) {
    const std::uint16_t to = e.intermediate({elements_of(e.tensors[x].shape)}, type);
    e.node(op::convert, {x}, {to});
    return to;
  }
  encoding e;
};

constexpr double f16_spacing = 0x1p-10;  // the distance of neighboring f16 numbers between 1 and 2

TEST_F(dnn_roundings, a_sum_moves_by_a_few_rounding_errors_of_its_type) {
  const std::vector<float> x{1, 1000, 0};
  const std::uint16_t to = sum(given(x, dtype::f32), e.number(0.25));
  const encoded_graph g = e.encoded();
  rounding_spread spread(g);
  for (const auto& [element, exact] : {std::pair(0, 1.25), {1, 1000.25}, {2, 0.25}}) {
    const double moved = spread.of(to, static_cast<std::size_t>(element), exact);
    EXPECT_GT(moved, exact * 0x1p-23);
    EXPECT_LT(moved, exact * 0x1p-19);
  }
}

TEST_F(dnn_roundings, a_converted_sum_moves_only_near_the_middle_of_two_f16_numbers) {
  const std::vector<float> x{1 + f16_spacing / 2, 1 + f16_spacing / 4};
  const std::uint16_t to = converted(sum(given(x, dtype::f32), e.number(0)), dtype::f16);
  const encoded_graph g = e.encoded();
  rounding_spread spread(g);
  EXPECT_EQ(spread.of(to, 0, 1), f16_spacing);
  EXPECT_EQ(spread.of(to, 1, 1), 0);
}

TEST_F(dnn_roundings, a_sum_that_cancels_moves_as_much_as_its_summands) {
  const std::vector<float> x{100, -100, 100, -100};
  const std::uint16_t to = e.intermediate({1});
  e.node(op::reduction, {given(x, dtype::f32)}, {to}, reduction_attributes{1, reduction_kind::sum});
  const encoded_graph g = e.encoded();
  rounding_spread spread(g);
  const double moved = spread.of(to, 0, 0);
  EXPECT_GT(moved, 100 * 0x1p-21);
  EXPECT_LE(moved, 400 * 0x1p-20);
}

TEST_F(dnn_roundings, inputs_and_integers_do_not_move) {
  const std::vector<float> x{1 + f16_spacing / 2, 3};
  const std::vector<std::int8_t> whole{100, -99};
  const std::uint16_t rounded = converted(given(x, dtype::f32), dtype::f16), to = e.intermediate({1}, dtype::i32);
  e.node(op::reduction, {given(whole, dtype::i8)}, {to}, reduction_attributes{1, reduction_kind::sum});
  const encoded_graph g = e.encoded();
  rounding_spread spread(g);
  EXPECT_EQ(spread.of(rounded, 0, 1), 0);
  EXPECT_EQ(spread.of(to, 0, 1), 0);
}

TEST_F(dnn_roundings, results_of_graphs_in_f64_move_less) {
  const std::vector<double> x{1, 2};
  const std::uint16_t to = sum(given(x, dtype::f64), e.number(0.25));
  const encoded_graph g = e.encoded();
  rounding_spread spread(g);
  EXPECT_GT(spread.of(to, 0, 1.25), 0);
  EXPECT_LT(spread.of(to, 0, 1.25), 0x1p-48);
}

TEST_F(dnn_roundings, changes_of_memory_after_construction_are_ignored) {
  std::vector<float> x{1 + f16_spacing / 2};
  const std::uint16_t to = converted(sum(given(x, dtype::f32), e.number(0)), dtype::f16);
  const encoded_graph g = e.encoded();
  rounding_spread spread(g);
  x[0] = 7;
  EXPECT_EQ(spread.of(to, 0, 1), f16_spacing);
}

}  // namespace
}  // namespace troupe::dnn
