// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/networks/numbers.hpp>
#include <bench/networks/trained_network.hpp>
#include <optional>
#include <troupe/base/bfloat16.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/troupe.hpp>
#include <vector>

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
  // All weights, and for each a gradient, two moments and a copy in bf16, in vectors of the same order.
  struct all_weights {
    tensor<float> master, gradients, mean, square;
    tensor<bfloat16> narrow;
  };
  struct layer {
    dnn::value matrix, bias;
  };

  // Returns a part of all weights as a variable.
  dnn::value variable(const std::vector<float>& initial, std::initializer_list<extent> of, bool is_narrow);
  layer make_layer(std::int64_t in, std::int64_t out);
  dnn::affine make_norm();
  dnn::value normalize(const dnn::value& x, const dnn::affine& a) const;
  dnn::value attend(const dnn::value& x) const;
  dnn::computation gradients() const;
  dnn::computation update() const;

  const device gpu_;
  const extents e_;
  number_lists numbers_;
  std::int64_t used_ = 0;  // weights that are parts of variables
  tensor<float> input_, loss_, count_;
  all_weights all_;
  std::vector<dnn::value> variables_;
  std::vector<tensor<float>> gradient_views_;
  dnn::affine first_norm_, second_norm_;
  layer qkv_, attended_, wide_, narrow_;
  std::optional<dnn::computation> gradients_, update_;
};

}  // namespace troupe::bench
