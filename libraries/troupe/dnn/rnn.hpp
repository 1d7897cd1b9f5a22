// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/recurrence.hpp>
#include <vector>

/// Several layers of recurrences; the input of each is y of the one before it.
namespace troupe::dnn {

/// The options of all layers.
struct rnn_options {
  recurrent_cell cell = recurrent_cell::lstm;
  /// True if each layer processes the sequences in both directions: its y is that of both, concatenated along axis 2.
  bool bidirectional = false;
  std::optional<value> lengths = {};
};
/// The results of all layers. `layers` has each layer in turn, with both directions if there are two: the reversed one
/// is the second.
struct rnn_result {
  value y;  ///< of the last layer
  std::vector<recurrent_result> layers;
};
/// Computes all layers. `weights` and `initial` have an element for each layer and direction, in the order of the
/// result; without `initial` all states begin with 0.
rnn_result rnn(const value& x, std::span<const recurrent_weights> weights, const rnn_options& o,
               std::span<const recurrent_state> initial = {});

/// The gradients of the inputs of the layers, in the order of their results.
struct rnn_gradients {
  value dx;
  std::vector<recurrence_gradients> layers;
};
/// Returns the gradients from that of y. `of` is what `rnn` returned: y and the reserve of each layer are used. `dlast`
/// has an element for each layer and direction with the gradients of their last states, or none.
rnn_gradients rnn_gradient(const value& dy, const value& x, std::span<const recurrent_weights> weights,
                           const rnn_result& of, const rnn_options& o, std::span<const recurrent_state> initial = {},
                           std::span<const recurrent_output_gradients> dlast = {});

}  // namespace troupe::dnn
