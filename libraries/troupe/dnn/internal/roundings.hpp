// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <troupe/dnn/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn::detail {

/// Moves numbers up or down at random, by some roundings of f32, or of f64 if the graph has f64.
class roundings {
 public:
  roundings(const encoded_graph& g, std::uint64_t seed);

  void move(std::vector<double>& numbers);
  /// Returns true if a node sums its inputs. Its sums are as correct as those of numbers that differ by a rounding.
  static bool adds_up(op o) noexcept;
  /// Returns true if the result of a node is rounded: not if it is copied, nor if its type has few bits or is an
  /// integer.
  static bool rounds(op o, dtype result) noexcept;

 private:
  std::mt19937_64 random_;
  double step_;
};

}  // namespace troupe::dnn::detail
