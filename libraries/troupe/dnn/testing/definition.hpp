// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <vector>

/// A fixture for tests of the definitions in the reference.
namespace troupe::dnn::testing {

class definition : public ::testing::Test {
 protected:
  using extents = std::vector<std::int64_t>;
  using numbers = std::vector<double>;

  value given(const extents& e, const numbers& n) { return stored(doubles_.emplace_back(n), e, dtype::f64); }
  value whole(const extents& e, const std::vector<std::int32_t>& n) {
    return stored(integers_.emplace_back(n), e, dtype::i32);
  }

  static numbers values_of(const value& v) {
    EXPECT_EQ(v.why_refused(), "");
    static double nowhere;  // nothing is written to it
    tensor_shape s{.rank = v.rank()};
    std::copy(v.extents().begin(), v.extents().end(), s.extents.begin());
    s.strides = dense_strides(s);
    const memory_range range{{}, reinterpret_cast<std::uint64_t>(&nowhere), sizeof nowhere};
    const graph g{written{v, out_any(range, s, dtype::f64)}};
    std::vector<std::uint64_t> encoded(g.encoded_bytes() / sizeof(std::uint64_t));
    g.encode(reinterpret_cast<std::byte*>(encoded.data()));
    const encoded_graph encoded_view(reinterpret_cast<const std::byte*>(encoded.data()), g.encoded_bytes());
    EXPECT_FALSE(encoded_view.empty());
    return encoded_view.empty() ? numbers{} : evaluate(encoded_view)[encoded_view.nodes().back().outputs[0]];
  }
  static void expect(const value& v, const numbers& expected, double tolerance = 1e-12) {
    const numbers got = values_of(v);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isfinite(expected[i]))
        EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
      else
        EXPECT_EQ(got[i], expected[i]) << "element " << i;
    }
  }

 private:
  template <class T>
  static value stored(const std::vector<T>& n, const extents& e, dtype type) {
    tensor_shape s{.rank = e.size()};
    std::copy(e.begin(), e.end(), s.extents.begin());
    s.strides = dense_strides(s);
    EXPECT_EQ(static_cast<std::size_t>(elements_of(s)), n.size());
    return value(in_any(memory_range{{}, reinterpret_cast<std::uint64_t>(n.data()), n.size() * sizeof(T)}, s, type));
  }
  std::deque<numbers> doubles_;
  std::deque<std::vector<std::int32_t>> integers_;
};

}  // namespace troupe::dnn::testing
