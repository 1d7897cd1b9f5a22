// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests shapes and lists of results that a program makes at run time.
#include <gtest/gtest.h>

#include <array>
#include <troupe/dnn/dnn.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::dnn {
namespace {

TEST(dnn_shaping, reshape_takes_any_range_of_integers) {
  troupe::testing::fake_memory memory(1 << 12);
  const value x = read(tensor<float>(buffer<float>(memory.at<float>(0, 12).range), {3, 4}));
  const extent two = 2;
  const std::vector<std::int64_t> longs{2, 6};
  const std::array<int, 2> ints{2, 6};
  const std::vector<extent> extents{two, 6};
  const std::initializer_list<std::int64_t> list{2, 6};
  for (const value& y : {reshape(x, {two, 6}), reshape(x, {2, 6}), reshape(x, longs), reshape(x, ints),
                         reshape(x, extents), reshape(x, list)})
    EXPECT_EQ(y.why_refused(), "");
  EXPECT_NE(reshape(x, std::vector<int>{2, 5}).why_refused(), "");
}

TEST(dnn_shaping, operations_on_lines_name_what_is_wrong) {
  troupe::testing::fake_memory memory(1 << 12);
  const value x = read(tensor<float>(buffer<float>(memory.at<float>(0, 12).range), {3, 4}));
  const value positions = read(buffer<std::int32_t>(memory.at<std::int32_t>(128, 3).range));
  const auto expect_refusal = [](const value& v, const std::string& text) { EXPECT_EQ(v.why_refused(), text); };
  expect_refusal(cumulative_sum(x, 2), "has a cumulative_sum whose axis is 2; expected less than 2");
  expect_refusal(top_k(x, 2, 1).values, "has a top_k whose axis is 2; expected less than 2");
  expect_refusal(top_k(x, 1, 5).indexes, "has a top_k whose count is 5; expected 0 to 4, the elements along the axis");
  expect_refusal(rotary(x, positions), "");
  expect_refusal(rotary(x, x),
                 "has a rotary whose positions is 3 x 4; expected 3 x 1, where each extent but the last "
                 "may be 1");
  expect_refusal(rotary(x, positions, {.width = 3}),
                 "has a rotary whose width is 3; expected an even number from 2 to 4, the elements of a token");
  expect_refusal(rotary(x, positions, {.base = 0}), "has a rotary whose base is 0.000000; expected above 0");
  expect_refusal(rotary(slice(x, 2, 0, 1), x, x), "has a slice whose axis is 2; expected less than 2");
  expect_refusal(rotary(positions, x, x), "has a rotary whose x has 1 axis; expected 2 to 8");
  expect_refusal(rotary(x, x, x),
                 "has a rotary whose cosines is 3 x 4; expected 3 x 2, where each extent but the last "
                 "may be 1");
  expect_refusal(normalize_with(x, x, positions, 0),
                 "has a normalize_with whose variance is 3; expected 3 x 4, where each extent may be 1");
  expect_refusal(normalize_with(x, x, x, -1), "has a normalize_with whose epsilon is -1.000000; expected 0 or more");
}

TEST(dnn_shaping, a_graph_can_be_made_of_a_vector_of_results) {
  troupe::testing::fake_memory memory(1 << 12);
  const auto at = [&](std::uint64_t first) {
    return tensor<float>(buffer<float>(memory.at<float>(first, 4).range), {2, 2});
  };
  std::vector<written> results;
  for (std::uint64_t i = 1; i <= 3; ++i) results.push_back(write(read(at(0)) * 2, at(4 * i)));
  const computation all{.graph = results};
  EXPECT_EQ(memory.refusal(all), "");
  EXPECT_EQ(all.graph.memory().size(), 4u);
}

// Graphs of any depth: nothing recurses along a chain of operations.
class dnn_long_chains : public ::testing::Test {
 protected:
  tensor<float> at(std::uint64_t first) { return tensor<float>(buffer<float>(memory_.at<float>(first, 4).range), {4}); }
  std::string refusal_of(const value& v) { return memory_.refusal(computation{.graph = {write(v, at(4))}}); }

 private:
  troupe::testing::fake_memory memory_{1 << 12};
};

TEST_F(dnn_long_chains, are_accepted_and_differentiated) {
  const value first = read(at(0));
  value x = first;
  for (int i = 0; i < 20'000; ++i) x = sin(x);
  EXPECT_EQ(refusal_of(x), "");
  EXPECT_EQ(gradients(reduce(x, reduction_kind::sum, {0}), {first})[0].why_refused(), "");
}

TEST_F(dnn_long_chains, are_refused_with_their_number_of_tensors) {
  value x = read(at(0));
  for (int i = 0; i < 70'000; ++i) x = relu(x);
  EXPECT_EQ(refusal_of(x), "dnn.computation: graph has 70002 tensors; expected at most 65535");
}

}  // namespace
}  // namespace troupe::dnn
