// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/graph/value.hpp>

/// Layers that process sequences step by step, defined as in PyTorch and cuDNN. h is the state before a step, and h'
/// the state after it; a = W x + b and p = R h + d, each divided into one part for each gate:
///   relu, tanh  h' = f(a + p)
///   lstm        i, f, o = sigmoid(a + p), g = tanh(a + p), in the order i f g o;
///               c' = f c + i g, m = o tanh(c'), h' = m, or P m with a projection P
///   gru         r, z = sigmoid(a + p), n = tanh(a + r p), in the order r z n; h' = (1 - z) n + z h
namespace troupe::dnn {

/// The weights of a layer. W is (gates * hidden) x inputs, R is (gates * hidden) x width, and P is width x hidden.
/// `width` is the number of elements of h; without a projection it equals `hidden`. An LSTM has 4 gates, a GRU 3, other
/// cells 1.
struct recurrent_weights {
  value input, recurrent;  ///< W and R
  struct bias {
    value input, recurrent;  ///< b and d: gates * hidden
  };
  std::optional<bias> biases = {};
  std::optional<value> projection = {};  ///< P, only for an LSTM
};
/// The state of a layer. h is batch x width. An LSTM also has c, which is batch x hidden.
struct recurrent_state {
  value h;
  std::optional<value> c = {};
};
/// Options of a layer: its cell and direction, and the initial states and lengths of its sequences.
struct recurrence_options {
  recurrent_cell cell = recurrent_cell::lstm;
  bool reversed = false;  ///< true if each sequence is processed from its last step to its first
  /// The state before the first step; 0 if it is not given.
  std::optional<recurrent_state> initial = {};
  /// i32 in memory: the number of steps of each sequence, clamped to the range from 0 to the number of steps of x.
  /// Later elements of x are not used, and later elements of y and of the gradient of x are 0.
  std::optional<value> lengths = {};
};

/// The results of a layer in one direction.
struct recurrent_result {
  value y;        ///< h after each step: time x batch x width
  value h, c;     ///< states after the last step of each sequence; c is refused unless it is an LSTM
  value reserve;  ///< values of each step for the gradient, in an internal order: time x batch x elements
};
/// Computes one layer in one direction. x is time x batch x inputs.
recurrent_result recurrence(const value& x, const recurrent_weights& w, const recurrence_options& o);

/// The gradients of y and of the last states. A gradient that is not given is 0.
struct recurrent_output_gradients {
  std::optional<value> y = {}, h = {}, c = {};
};
/// The gradients of a layer's inputs: x, the weights and the initial state.
struct recurrence_gradients {
  value dx, dinput, drecurrent;
  value dinput_bias, drecurrent_bias, dprojection, dh, dc;  ///< refused if the layer had no such input
};
/// Returns the gradients of a layer's inputs, computed from `d`, the gradients of its results. `reserve` must be what
/// the layer returned; the other arguments must be those of the layer.
recurrence_gradients recurrence_gradient(const recurrent_output_gradients& d, const value& x,
                                         const recurrent_weights& w, const value& reserve, const recurrence_options& o);

}  // namespace troupe::dnn
