// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/graph/value.hpp>
#include <vector>

/// The origin of a value: a node that computes it, memory, or a number.
namespace troupe::dnn::detail {

/// The reason why a value is refused: `what` is wrong ("has a convolution whose filters is 4 x 5"), and what was
/// expected. `input` names the input, and `is` says what is wrong with it ("filters", "is 4 x 5"): ready requests
/// report these for their own fields.
struct refusal {
  std::string what, expected;
  std::string input = {}, is = {};
};

/// A node, or a tensor in memory, or a number.
struct producer {
  op what = op::none;  ///< none for a tensor in memory and for a number
  node_attributes attributes = {};
  std::vector<value> inputs = {};
  struct output {
    dtype type;
    tensor_shape shape;  ///< without strides
  };
  std::vector<output> outputs = {};
  std::optional<in_any> memory = {};
  double number = 0;
  std::optional<refusal> refused = {};
  std::size_t depth = 0;  ///< number of nodes on the longest path from memory or a number to this node
};

}  // namespace troupe::dnn::detail
