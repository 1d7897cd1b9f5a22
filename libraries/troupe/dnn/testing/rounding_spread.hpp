// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <troupe/dnn/reference.hpp>
#include <vector>

namespace troupe::dnn::testing {

/// How far roundings can move what a graph gives. It reads the graph's memory when it is made, and evaluates the graph
/// when it is first asked, so that it costs little where all is near the exact results.
class rounding_spread {
 public:
  explicit rounding_spread(const encoded_graph& g) : graph_(g), read_(numbers_read(g)) {}

  /// How far an element of a tensor is moved from its exact number, at most, in some evaluations; 0 if it is not
  /// finite.
  double of(std::uint16_t tensor, std::size_t element, double exact) {
    constexpr std::uint64_t wanted = 32;
    while (moved_.size() < wanted) moved_.push_back(evaluate_with_roundings(graph_, read_, moved_.size()));
    double out = 0;
    for (const auto& tensors : moved_)
      if (const double distance = std::fabs(tensors[tensor][element] - exact); std::isfinite(distance))
        out = std::max(out, distance);
    return out;
  }

 private:
  const encoded_graph& graph_;
  const std::vector<std::vector<double>> read_;
  std::vector<std::vector<std::vector<double>>> moved_;
};

}  // namespace troupe::dnn::testing
