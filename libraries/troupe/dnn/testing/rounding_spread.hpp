// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <vector>

namespace troupe::dnn::testing {

/// Estimates how far rounding errors can move the results of a graph. The constructor reads the graph's memory. The
/// first call of `of` evaluates the graph; tests call it only if a result is not near the exact one.
class rounding_spread {
 public:
  explicit rounding_spread(const encoded_graph& g) : graph_(g), read_(elements_read(g)) {}

  /// Evaluates the graph with some random rounding errors, and returns the largest distance of an element from its
  /// exact value; 0 if that is not finite.
  double of(std::uint16_t tensor, std::size_t element, double exact) {
    constexpr std::uint64_t evaluations = 32;
    while (moved_.size() < evaluations) moved_.push_back(evaluate_with_roundings(graph_, read_, moved_.size()));
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
