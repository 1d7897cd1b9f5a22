// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace demo {

/// The model that the service computes: `features` numbers pass through dense layers and yield shares of `classes`,
/// which sum to 1. The number of classes is a power of two.
struct shape {
  static constexpr std::int64_t features = 256, hidden = 512, classes = 32;
  static constexpr std::array<std::int64_t, 4> widths = {features, hidden, hidden, classes};
  static constexpr double flops_of_one = 2.0 * (features * hidden + hidden * hidden + hidden * classes);
};

/// One dense layer: activation(weights * inputs + bias), where the activation is gelu, and softmax in the last layer.
/// Weights are column-major, `outputs` by `inputs`.
struct layer {
  std::int64_t inputs, outputs;
  std::vector<float> weights, bias;
};

/// The weights of the network, and its results by plain loops in double precision: the reference for every answer.
class model {
 public:
  explicit model(std::uint64_t seed);
  const std::vector<layer>& layers() const noexcept { return layers_; }
  std::vector<double> answer_to(const std::vector<float>& features) const;

 private:
  std::vector<layer> layers_;
};

/// A question and its correct answer.
struct sample {
  std::vector<float> features;
  std::vector<double> expected;

  bool answered_by(const float* classes) const noexcept;
};
/// Enough questions that clients seldom ask the same one. They are computed once, so that checking an answer costs
/// little.
std::vector<sample> make_samples(const model& m, std::size_t count, std::uint64_t seed);

}  // namespace demo
