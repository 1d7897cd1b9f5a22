// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <tests/numerics/random.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <vector>

namespace troupe::dnn::testing {

/// Draws random graphs of small f32 tensors, with most kinds of operations and with several results. Chains of
/// operations branch and join.
class random_graphs : public ::testing::Test {
 protected:
  using sizes = std::vector<std::int64_t>;

  struct drawn {
    std::vector<std::uint64_t> words;
    std::size_t bytes;
    encoded_graph encoded() const { return {reinterpret_cast<const std::byte*>(words.data()), bytes}; }
  };

  drawn draw() {
    memory_.clear(), overwritten_ = 0;
    std::vector<value> all{given({2, 3, 4, 5}), given({2, 3, 4, 5})};
    for (std::int64_t count = random.between(3, 14); count > 0; --count) all.push_back(next(any(all), any(all)));
    std::vector<written> results{to_memory(all.back())};
    for (std::int64_t more = random.between(0, 3); more > 0; --more) results.push_back(to_memory(any(all)));
    const graph g{std::span<const written>(results)};
    EXPECT_FALSE(g.refused());
    drawn out{.words = std::vector<std::uint64_t>((g.encoded_bytes() + 7) / 8), .bytes = g.encoded_bytes()};
    g.encode(reinterpret_cast<std::byte*>(out.words.data()));
    return out;
  }

  /// Returns random limits of elementwise kernels; many of them are low.
  elementwise_limits limits() {
    if (random.between(0, 1) == 0) return {};
    return {.operations = static_cast<std::size_t>(random.between(12, 30)),
            .operands = static_cast<std::size_t>(random.between(10, 20))};
  }

  static std::vector<double> written_to(const encoded_graph& g, std::uint16_t t) {
    const auto* const at = reinterpret_cast<const float*>(g.memory()[g.tensors()[t].memory].address);
    return {at, at + elements_of(g.tensors()[t].shape)};
  }
  static void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-4 * std::max(1.0, std::fabs(want[i]))) << "element " << i;
  }

  numerics::random_source random;

 private:
  const value& any(const std::vector<value>& all) {
    const auto last = static_cast<std::int64_t>(all.size()) - 1;
    return all[static_cast<std::size_t>(random.between(std::max<std::int64_t>(0, last - 5), last))];
  }
  tensor_shape dense(const sizes& e) {
    tensor_shape s{.rank = e.size()};
    std::copy(e.begin(), e.end(), s.extents.begin());
    s.strides = dense_strides(s);
    return s;
  }
  template <access_mode M>
  any_operand<M> operand(const sizes& e) {
    auto& numbers = memory_.emplace_back();
    for (std::int64_t n = elements_of(dense(e)); n > 0; --n) numbers.push_back(static_cast<float>(random.value()));
    return operand_at<M>(numbers, e);
  }
  template <access_mode M>
  any_operand<M> operand_at(std::vector<float>& numbers, const sizes& e) {
    const tensor_shape s = dense(e);
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(numbers.data()), numbers.size() * sizeof(float)}, s,
            dtype::f32};
  }
  value given(const sizes& e) { return value(operand<access_mode::read>(e)); }
  // Writes a result, sometimes to the memory of one of the first tensors, which the graph also reads.
  written to_memory(const value& v) {
    const sizes e(v.extents().begin(), v.extents().end());
    if (overwritten_ == 2 || random.between(0, 2) != 0) return {v, operand<access_mode::write>(e)};
    return {v, operand_at<access_mode::write>(memory_[overwritten_++], e)};
  }

  // Returns the result of an operation on x and y. It has the extents of the first tensor, so that any two results can
  // be combined.
  value next(const value& x, const value& y) {
    switch (random.between(0, 16)) {
      case 0:
        return 0.5 * convolution(x, given({3, 3, 3, 3}), {.padding = 1});
      case 1:
        return convolution(x, given({3, 3, 1, 1})) + channels(given({3}));
      case 2:
        return max_pool(x, 3, {.padding = 1, .stride = 1});
      case 3:
        return transpose(softmax(transpose(x, {0, 2, 3, 1}), 3), {0, 3, 1, 2});
      case 4:
        return x * reduce(y, reduction_kind::mean, {1, 2});
      case 5:
        return reshape(tanh(reshape(x, {6, 20})), {2, 3, 4, 5});
      case 6:
        return concatenate({slice(x, 1, 1, 2), slice(y, 1, random.between(0, 3), 0), slice(y, 1, 0, 1)}, 1);
      case 7:
        return layer_norm(x, 2, 1e-1).y;
      case 8:
        return relu(x) - 0.25;
      case 9:
        return tanh(x * y);
      case 10:  // a value that is computed from no elements
        return x + reduce(slice(y, 3, 2, 0), reduction_kind::sum, {3});
      case 11:
        return convert(tanh(x), dtype::f32);
      case 12:
        return concatenate({slice(x, 3, 0, 3, 2), slice(y, 3, 1, 2, 2)}, 3);
      case 13:
        return 0.5 * cumulative_sum(x, static_cast<std::size_t>(random.between(0, 3)));
      case 14:
        return top_k(x, 3, 5).values;
      case 15:
        return y * expand(reduce(x, reduction_kind::mean, {0, 1}), {2, 3, 4, 5});
      default:
        return 0.5 * (x + y);
    }
  }

  std::deque<std::vector<float>> memory_;
  std::size_t overwritten_ = 0;
};

}  // namespace troupe::dnn::testing
