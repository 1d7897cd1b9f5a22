// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/networks/trained_network.hpp>
#include <bench/networks/weight_vectors.hpp>
#include <optional>

namespace troupe::bench {

/// A block of GPT-2: causal attention and two layers with GELU, each after a layer normalization and added to its
/// input. The loss is the mean square of the output, whose gradients `dnn::gradients` derives, and AdamW updates the
/// weights. Weights are float with a copy in bf16, in which products are computed.
class transformer_block final : public trained_network {
 public:
  struct extents {
    std::int64_t sequences = 8, tokens = 1024, width = 1024, heads = 16;  // of GPT-2 medium
    std::int64_t weights() const noexcept { return 12 * width * width + 13 * width; }
  };
  static constexpr double rate = 1e-3, decay = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

  transformer_block(const device& gpu, const extents& e);

  void step() override;
  float loss() const override { return gpu_.download(loss_.memory()).get().value()[0]; }

 private:
  struct layer {
    dnn::value matrix, bias;
  };

  layer make_layer(std::int64_t in, std::int64_t out);
  dnn::affine make_norm();
  dnn::value normalize(const dnn::value& x, const dnn::affine& a) const;
  dnn::value attend(const dnn::value& x) const;
  dnn::computation gradients() const;
  dnn::computation update() const;

  const device gpu_;
  const extents e_;
  number_lists numbers_;
  tensor<float> input_, loss_, count_;
  weight_vectors weights_;
  dnn::affine first_norm_, second_norm_;
  layer qkv_, attended_, wide_, narrow_;
  std::optional<dnn::computation> gradients_, update_;
};

}  // namespace troupe::bench
