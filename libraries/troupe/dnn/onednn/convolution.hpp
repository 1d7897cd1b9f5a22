// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/encoded_graph.hpp>
#include <troupe/dnn/onednn/program.hpp>
#include <vector>

namespace troupe::dnn::onednn {

/// A convolution or a gradient of one, of f32, with functions of what it gives.
struct convolution {
  /// x * other, x + other, or a function of x.
  struct function {
    dnnl_alg_kind_t kind{};
    float alpha = 0;
    bool has_other = false;  ///< one number for each channel, in the program's next argument
  };
  /// How images lie meanwhile. As products of matrices, the last index is first.
  enum class way : std::uint8_t { products, channels_last, as_it_chooses };

  op what{};
  convolution_attributes attributes{};
  tensor_shape image, filters, result;  ///< as they lie
  way how = way::channels_last;
  bool has_bias = false;  ///< one number for each channel, in the argument after those of the node
  std::vector<function> functions = {};
};

/// Returns a program whose arguments are the inputs of the node, those of functions, and its output. Nothing if oneDNN
/// has no good way for it.
std::optional<program> program_of(dnnl_engine_t on, const convolution& c);

}  // namespace troupe::dnn::onednn
