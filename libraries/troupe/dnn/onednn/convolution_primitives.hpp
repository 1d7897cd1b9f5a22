// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/onednn/primitive_list.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <vector>

namespace troupe::dnn::onednn {

/// A convolution in f32, or one of its gradients, and functions that are applied to the result.
struct convolution_to_build {
  /// A function of the result x: x * other, x + other, or an elementwise function of x.
  struct function {
    dnnl_alg_kind_t kind{};
    float alpha = 0;
    bool has_other = false;  ///< true if the next argument is `other`: one element for each channel
  };
  /// The layout of images in the computation: channels first for products of matrices, channels last, or oneDNN's
  /// choice.
  enum class strategy : std::uint8_t { products, channels_last, library_choice };

  op what{};
  convolution_attributes attributes{};
  tensor_shape image, filters, result;  ///< with the strides in which they are stored
  strategy strategy_used = strategy::channels_last;
  bool has_bias = false;  ///< true if the argument after the node's inputs is a bias: one element for each channel
  std::vector<function> functions = {};
};

/// Returns the primitives that compute the convolution. Their arguments are the inputs of the node, the bias, the other
/// inputs of functions, and the output. Returns nullopt if oneDNN has no fast implementation.
std::optional<primitive_list> make_primitive_list(dnnl_engine_t on, const convolution_to_build& c);

}  // namespace troupe::dnn::onednn
