// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/encoded_graph.hpp>
#include <troupe/dnn/onednn/program.hpp>
#include <vector>

namespace troupe::dnn::onednn {

/// A convolution of f32 or one of its gradients, with functions of its result.
struct convolution {
  /// A function of the result x: x * other, x + other, or an elementwise function of x.
  struct function {
    dnnl_alg_kind_t kind{};
    float alpha = 0;
    bool has_other = false;  ///< one number for each channel, the next argument of the program
  };
  /// The layout in which images are computed: channels first for products of matrices, channels last, or oneDNN's
  /// choice.
  enum class strategy : std::uint8_t { products, channels_last, library_choice };

  op what{};
  convolution_attributes attributes{};
  tensor_shape image, filters, result;  ///< as stored
  strategy chosen = strategy::channels_last;
  bool has_bias = false;  ///< one number for each channel, the argument after those of the node
  std::vector<function> functions = {};
};

/// Returns a program whose arguments are the inputs of the node, those of functions, and its output. Returns nothing if
/// oneDNN has no fast implementation.
std::optional<program> program_of(dnnl_engine_t on, const convolution& c);

}  // namespace troupe::dnn::onednn
