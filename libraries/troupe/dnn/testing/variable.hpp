// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <vector>

/// Tensors in this process, and their evaluation by the reference.
namespace troupe::dnn::testing {

using extents = std::vector<std::int64_t>;

/// A tensor of f64 in row-major order. It must outlive the values that read it.
struct variable {
  std::vector<double> numbers;
  extents shape;

  tensor_shape as_stored() const {
    tensor_shape s{.rank = shape.size()};
    std::copy(shape.begin(), shape.end(), s.extents.begin());
    s.strides = dense_strides(s);
    return s;
  }
  memory_range range() const {
    return {{}, reinterpret_cast<std::uint64_t>(numbers.data()), numbers.size() * sizeof(double)};
  }
  value read() const { return value(in_any(range(), as_stored(), dtype::f64)); }
  written write(const value& v) const { return {v, out_any(range(), as_stored(), dtype::f64)}; }
};

inline std::vector<double> values_of(const value& v) {
  EXPECT_EQ(v.why_refused(), "");
  const variable to{{0}, {v.extents().begin(), v.extents().end()}};  // nothing is written to it
  const graph g{to.write(v)};
  EXPECT_FALSE(g.refused()) << g.refused()->what;
  std::vector<std::uint64_t> encoded(g.encoded_bytes() / sizeof(std::uint64_t));
  g.encode(reinterpret_cast<std::byte*>(encoded.data()));
  const encoded_graph encoded_view(reinterpret_cast<const std::byte*>(encoded.data()), g.encoded_bytes());
  EXPECT_FALSE(encoded_view.empty());
  return evaluate(encoded_view)[encoded_view.nodes().back().outputs[0]];
}

}  // namespace troupe::dnn::testing
