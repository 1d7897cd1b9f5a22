// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <troupe/dnn/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn::detail {

/// Moves numbers up or down at random, as some roundings of f32 do, or of f64 if the graph has f64.
class roundings {
 public:
  roundings(const encoded_graph& g, std::uint64_t seed);

  void move(std::vector<double>& numbers);
  /// Whether a node adds up what it reads. Its sums are as right as those of numbers that differ by a rounding.
  static bool adds_up(op o) noexcept;
  /// Whether what a node gives is rounded: it is not if it is copied, or of a type that has few bits or is whole.
  static bool rounds(op o, dtype result) noexcept;

 private:
  std::mt19937_64 random_;
  double step_;
};

}  // namespace troupe::dnn::detail
