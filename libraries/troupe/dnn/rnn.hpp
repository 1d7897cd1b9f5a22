// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/recurrence.hpp>
#include <vector>

/// Several layers of recurrences, each fed with y of the one before it.
namespace troupe::dnn {

/// What all layers have in common.
struct rnn_options {
  recurrent_cell cell = recurrent_cell::lstm;
  /// Each layer goes through the sequences in both directions: its y is that of both, after each other in index 2.
  bool bidirectional = false;
  std::optional<value> lengths = {};
};
/// Of each layer in turn, of both directions if there are two: the reversed one is the second.
struct rnn_result {
  value y;  ///< of the last layer
  std::vector<recurrent_result> layers;
};
/// `weights` and `initial` have an element for each layer and direction, in the order of the result; without `initial`
/// all states begin with 0.
rnn_result rnn(const value& x, std::span<const recurrent_weights> weights, const rnn_options& o,
               std::span<const recurrent_state> initial = {});

/// The gradients of what the layers were given, in the order of their results.
struct rnn_gradients {
  value dx;
  std::vector<recurrence_gradients> layers;
};
/// `of` is what `rnn` gave: y and the reserve of each layer are used. `dlast` has an element for each layer and
/// direction with the gradients of their last states, or none.
rnn_gradients rnn_gradient(const value& dy, const value& x, std::span<const recurrent_weights> weights,
                           const rnn_result& of, const rnn_options& o, std::span<const recurrent_state> initial = {},
                           std::span<const recurrent_gradients> dlast = {});

}  // namespace troupe::dnn
