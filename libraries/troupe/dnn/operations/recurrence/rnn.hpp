// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/operations/recurrence/recurrence.hpp>
#include <vector>

/// Several layers of recurrences. The input of each layer is the y of the layer before it.
namespace troupe::dnn {

/// Options of all layers.
struct rnn_options {
  recurrent_cell cell = recurrent_cell::lstm;
  /// True if each layer processes the sequences in both directions; the results are concatenated along axis 2.
  bool bidirectional = false;
  std::optional<value> lengths = {};
};
/// The results of all layers. `layers` has one element for each layer; if `bidirectional`, it has two, and the second
/// is that of the reversed direction.
struct rnn_result {
  value y;  ///< y of the last layer
  std::vector<recurrent_result> layers;
};
/// Computes all layers. `weights` and `initial` must have the order of rnn_result::layers. If `initial` is empty, all
/// initial states are 0.
rnn_result rnn(const value& x, std::span<const recurrent_weights> weights, const rnn_options& o,
               std::span<const recurrent_state> initial = {});

/// The gradients of x, and of the inputs of all layers, in the order of rnn_result::layers.
struct rnn_gradients {
  value dx;
  std::vector<recurrence_gradients> layers;
};
/// Returns the gradients of all inputs, computed from dy, the gradient of y. `of` must be the result of `rnn`: y and
/// the reserve of each layer are used. `dlast` has the gradients of the last states, in the order of
/// rnn_result::layers, or is empty.
rnn_gradients rnn_gradient(const value& dy, const value& x, std::span<const recurrent_weights> weights,
                           const rnn_result& of, const rnn_options& o, std::span<const recurrent_state> initial = {},
                           std::span<const recurrent_output_gradients> dlast = {});

}  // namespace troupe::dnn
