// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/kinds.hpp>
#include <troupe/dnn/value.hpp>

/// Layers that process sequences step by step, as those of PyTorch and cuDNN. With a = W x + b and p = R h + d, where h
/// is the state before the step, each divided into one part for each gate:
///   relu, tanh  h' = f(a + p)
///   lstm        i, f, o = sigmoid(a + p), g = tanh(a + p), in the order i f g o;
///               c' = f c + i g, m = o tanh(c'), h' = m, or P m with a projection P
///   gru         r, z = sigmoid(a + p), n = tanh(a + r p), in the order r z n; h' = (1 - z) n + z h
namespace troupe::dnn {

/// The weights of a layer. W is (gates * hidden) x inputs, R is (gates * hidden) x width, P is width x hidden: the
/// width of h is that of the hidden state without a projection. There are 4 gates in an LSTM, 3 in a GRU, otherwise 1.
struct recurrent_weights {
  value input, recurrent;
  struct bias {
    value input, recurrent;  ///< b and d: gates * hidden
  };
  std::optional<bias> biases = {};
  std::optional<value> projection = {};  ///< of an LSTM
};
/// The state of a layer. h is batch x width. An LSTM also has c, which is batch x hidden.
struct recurrent_state {
  value h;
  std::optional<value> c = {};
};
/// The kind of layer, and the initial state and lengths of its sequences.
struct recurrence_options {
  recurrent_cell cell = recurrent_cell::lstm;
  bool reversed = false;  ///< each sequence from its last step to its first
  /// The state before the first step; 0 if not given.
  std::optional<recurrent_state> initial = {};
  /// i32 in memory: the number of steps of each sequence, clamped to the range from 0 to the steps of x. Elements of x
  /// beyond it are not used; y and the gradient of x are 0 there.
  std::optional<value> lengths = {};
};

/// The results of a layer in one direction.
struct recurrent_result {
  value y;        ///< h after each step: time x batch x width
  value h, c;     ///< after the last step of each sequence; c is refused if there is none
  value reserve;  ///< values of each step that the gradient needs: time x batch x numbers in an internal order
};
/// Computes one layer in one direction. x is time x batch x inputs.
recurrent_result recurrence(const value& x, const recurrent_weights& w, const recurrence_options& o);

/// The gradients of y and of the last states; those that are absent are 0.
struct recurrent_output_gradients {
  std::optional<value> y = {}, h = {}, c = {};
};
/// The gradients of the inputs of a layer: x, its weights, the initial state.
struct recurrence_gradients {
  value dx, dinput, drecurrent;
  value dinput_bias, drecurrent_bias, dprojection, dh, dc;  ///< refused if the layer had no such input
};
/// Returns the gradients from those of the results. The other arguments are those of the layer, and its reserve.
recurrence_gradients recurrence_gradient(const recurrent_output_gradients& d, const value& x,
                                         const recurrent_weights& w, const value& reserve, const recurrence_options& o);

}  // namespace troupe::dnn
