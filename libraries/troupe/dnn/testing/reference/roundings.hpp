// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn::detail {

/// Moves numbers up or down at random by some rounding errors of f32, or of f64 if the graph has f64.
class roundings {
 public:
  roundings(const encoded_graph& g, std::uint64_t seed);

  void move(std::vector<double>& numbers);
  /// Returns true if a node sums its inputs: its results for inputs that differ by a rounding error are as correct.
  static bool adds_up(op o) noexcept;
  /// Returns true if engines round the result of a node to f32 or f64: false if the node only copies elements, or if
  /// the result has another type.
  static bool rounds(op o, dtype result) noexcept;

 private:
  std::mt19937_64 random_;
  double step_;
};

}  // namespace troupe::dnn::detail
