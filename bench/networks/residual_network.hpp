// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/networks/numbers.hpp>
#include <bench/networks/trained_network.hpp>
#include <deque>
#include <optional>
#include <troupe/base/bfloat16.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/troupe.hpp>
#include <vector>

namespace troupe::bench {

/// A residual network for small images, after ResNet-20: three stages, then the mean of each channel, and a product.
/// Each stage after the first has twice the channels of the previous one, and half its size. Activations are bf16;
/// weights are float with a copy in bf16.
class residual_network final : public trained_network {
 public:
  struct extents {
    std::int64_t images = 256, size = 32, width = 16, blocks = 3;  ///< width: channels of the first stage
  };
  static constexpr std::int64_t kinds = 10;
  static constexpr double rate = 0.1;

  residual_network(const device& gpu, const extents& e);

  void step() override;
  float loss() const override { return gpu_.download(loss_.memory()).get().value()[0]; }

 private:
  using image = tensor<bfloat16>;
  using vector = tensor<float>;  // an element for each channel

  // A convolution with normalization, the addition of a shortcut, and relu.
  struct layer {
    image x, z, y;  // input, result of the convolution, output
    image dx, dz;
    std::optional<image> shortcut, dshortcut;  // the tensor that is added before relu
    bool has_relu;
    std::int64_t padding, stride;
    vector weights, scale, offset, mean, inverse_deviation, running_mean, running_variance;
    image narrow_weights;
  };
  struct layer_form {
    std::int64_t out, filter, stride;
    bool has_relu = true;
  };

  layer make_layer(const image& x, const image& dx, const layer_form& f);
  void add_block(std::int64_t out, std::int64_t stride);
  void tell(dnn::graph g) { gpu_.tell(dnn::computation{.graph = std::move(g)}); }
  void forward(const layer& l);
  /// `dy`: gradient of the layer's output. `others`: another gradient of its input, which is added.
  void backward(const layer& l, const dnn::value& dy, const std::optional<image>& others);
  void tell_head();

  image empty_image(std::int64_t channels, std::int64_t size) const;

  struct block {
    layer first, second;
    std::optional<layer> shortcut;
  };
  const device gpu_;
  const extents e_;
  number_lists numbers_;
  image pixels_;
  std::deque<layer> stem_;
  std::deque<block> blocks_;
  image last_, dlast_;  // output of the last layer made, and its gradient
  tensor<float> wanted_, weights_, bias_, dseen_, loss_;
};

}  // namespace troupe::bench
