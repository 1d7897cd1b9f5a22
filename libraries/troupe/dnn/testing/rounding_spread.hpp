// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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
    if (least_.empty()) evaluate();
    const double least = least_[tensor][element], most = most_[tensor][element];
    return least <= most && std::isfinite(exact) ? std::max(std::fabs(least - exact), std::fabs(most - exact)) : 0;
  }

 private:
  void evaluate() {
    constexpr std::uint64_t evaluations = 32;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::uint64_t seed = 0; seed < evaluations; ++seed) {
      const auto moved = evaluate_with_roundings(graph_, read_, seed);
      for (std::size_t t = 0; t < moved.size(); ++t) {
        if (seed == 0) least_.emplace_back(moved[t].size(), infinity), most_.emplace_back(moved[t].size(), -infinity);
        for (std::size_t i = 0; i < moved[t].size(); ++i) {
          if (!std::isfinite(moved[t][i])) continue;
          least_[t][i] = std::min(least_[t][i], moved[t][i]);
          most_[t][i] = std::max(most_[t][i], moved[t][i]);
        }
      }
    }
  }

  const encoded_graph& graph_;
  const std::vector<std::vector<double>> read_;
  std::vector<std::vector<double>> least_, most_;  // of the finite values, for each element of each tensor
};

}  // namespace troupe::dnn::testing
