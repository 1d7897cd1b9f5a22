// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace demo {

/// The extents of the model that the service computes: `features` values pass through dense layers and yield a
/// probability for each of `classes`, which sum to 1. The number of classes is a power of two.
struct shape {
  static constexpr std::int64_t features = 256, hidden = 512, classes = 32;
  static constexpr std::array<std::int64_t, 4> widths = {features, hidden, hidden, classes};
  static constexpr double flops_of_one = 2.0 * (features * hidden + hidden * hidden + hidden * classes);
};

/// One dense layer: activation(weights * inputs + bias). The activation is softmax in the last layer, and gelu in all
/// others. Weights are column-major, `outputs` by `inputs`.
struct layer {
  std::int64_t inputs, outputs;
  std::vector<float> weights, bias;
};

/// The weights of the network, and its results by plain loops in double precision, with which every answer is compared.
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
/// Returns `count` questions: enough for clients to seldom ask the same one. Their answers are computed once, so that
/// checking an answer takes little time.
std::vector<sample> make_samples(const model& m, std::size_t count, std::uint64_t seed);

}  // namespace demo
