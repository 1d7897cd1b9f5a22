// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bench/networks/trained_network.hpp>
#include <bench/networks/weight_vectors.hpp>
#include <optional>

namespace troupe::bench {

/// ResNet-50, whose blocks have their stride in the convolution of 3 x 3: the gradients of one graph are derived by
/// `dnn::gradients`, and SGD with momentum updates the weights. Activations are bf16, images have their channels last.
class bottleneck_network final : public trained_network {
 public:
  struct extents {
    std::int64_t images = 64, size = 224, width = 64, kinds = 1000;
    std::array<int, 4> blocks = {3, 4, 6, 3};  // of each stage
  };
  static constexpr double rate = 0.05, momentum = 0.9;

  bottleneck_network(const device& gpu, const extents& e);

  void step() override;
  float loss() const override { return gpu_.download(loss_.memory()).get().value()[0]; }

 private:
  struct layer_options {
    std::int64_t out, filter = 1, stride = 1;
  };

  static std::int64_t count_weights(const extents& e);
  /// Adds a convolution and its normalization; returns the normalized values, in f32.
  dnn::value add_layer(const dnn::value& x, const layer_options& o);
  dnn::value add_block(const dnn::value& x, std::int64_t width, std::int64_t stride);
  dnn::computation gradients();
  dnn::computation update() const;

  const device gpu_;
  const extents e_;
  number_lists numbers_;
  tensor<float> loss_;
  weight_vectors weights_;
  std::vector<dnn::written> written_;  // running averages
  std::optional<dnn::computation> gradients_, update_;
};

}  // namespace troupe::bench
