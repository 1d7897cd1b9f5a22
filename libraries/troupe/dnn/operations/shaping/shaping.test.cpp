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
