// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace demo {

/// What the service computes for everybody: `features` numbers go through dense layers and come out as shares of
/// `classes`, which sum to 1. The number of classes is a power of two.
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

/// The numbers of the network, and what plain loops in double precision make of them: the reference that every answer
/// is compared with.
class model {
 public:
  explicit model(std::uint64_t seed);
  const std::vector<layer>& layers() const noexcept { return layers_; }
  std::vector<double> answer_to(const std::vector<float>& features) const;

 private:
  std::vector<layer> layers_;
};

/// Something to ask, and what the answer must be.
struct sample {
  std::vector<float> features;
  std::vector<double> expected;

  bool answered_by(const float* classes) const noexcept;
};
/// Enough of them that clients seldom ask the same; computed once, so that checking an answer costs next to nothing.
std::vector<sample> make_samples(const model& m, std::size_t count, std::uint64_t seed);

}  // namespace demo
