// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/kinds.hpp>

namespace troupe::dnn {

/// The attributes of a recurrence. Inputs: x, W and R; the initial h, and for an LSTM c; the biases b and d; the
/// projection; lengths. Inputs whose flag is 0 are omitted. Outputs: y; the last h, and for an LSTM c; the reserve.
struct recurrence_attributes {
  recurrent_cell cell;
  std::int64_t reversed = 0;  ///< 1 if each sequence is processed from its last step to its first
  std::int64_t has_state = 0, has_biases = 0, has_projection = 0, has_lengths = 0;
  std::int64_t has_dy = 0, has_dh = 0, has_dc = 0;  ///< flags; only the gradient uses them
};
/// The attributes of a recurrence's gradient. Inputs: x, W, R and the reserve; dy; the gradients of the last h and c;
/// the projection; lengths. Outputs: the gradients of x, W and R; of b and d; of the projection; of the initial h, and
/// for an LSTM c. Inputs and outputs whose flag is 0 are omitted.
using recurrence_gradient_attributes = recurrence_attributes;

constexpr bool has_c(recurrent_cell c) noexcept { return c == recurrent_cell::lstm; }

/// The indexes of a recurrence's inputs and outputs; `absent` for those that the node does not have.
struct recurrence_places {
  std::size_t inputs = 0, outputs = 0;
  std::size_t x, w, r, h, c, input_bias, recurrent_bias, projection, lengths;
  std::size_t y, last_h, last_c, reserve;
  constexpr explicit recurrence_places(const recurrence_attributes& a) noexcept
      : x(inputs++),
        w(inputs++),
        r(inputs++),
        h(next_index(inputs, a.has_state != 0)),
        c(next_index(inputs, a.has_state != 0 && has_c(a.cell))),
        input_bias(next_index(inputs, a.has_biases != 0)),
        recurrent_bias(next_index(inputs, a.has_biases != 0)),
        projection(next_index(inputs, a.has_projection != 0)),
        lengths(next_index(inputs, a.has_lengths != 0)),
        y(outputs++),
        last_h(outputs++),
        last_c(next_index(outputs, has_c(a.cell))),
        reserve(outputs++) {}
  constexpr node_counts counts() const noexcept { return {inputs, outputs}; }
};
struct recurrence_gradient_places {
  std::size_t inputs = 0, outputs = 0;
  std::size_t x, w, r, reserve, dy, dlast_h, dlast_c, projection, lengths;
  std::size_t dx, dw, dr, dinput_bias, drecurrent_bias, dprojection, dh, dc;
  constexpr explicit recurrence_gradient_places(const recurrence_gradient_attributes& a) noexcept
      : x(inputs++),
        w(inputs++),
        r(inputs++),
        reserve(inputs++),
        dy(next_index(inputs, a.has_dy != 0)),
        dlast_h(next_index(inputs, a.has_dh != 0)),
        dlast_c(next_index(inputs, a.has_dc != 0)),
        projection(next_index(inputs, a.has_projection != 0)),
        lengths(next_index(inputs, a.has_lengths != 0)),
        dx(outputs++),
        dw(outputs++),
        dr(outputs++),
        dinput_bias(next_index(outputs, a.has_biases != 0)),
        drecurrent_bias(next_index(outputs, a.has_biases != 0)),
        dprojection(next_index(outputs, a.has_projection != 0)),
        dh(next_index(outputs, a.has_state != 0)),
        dc(next_index(outputs, a.has_state != 0 && has_c(a.cell))) {}
  constexpr node_counts counts() const noexcept { return {inputs, outputs}; }
};

constexpr bool is_sound(op what, const recurrence_attributes& a, const node_counts& n) noexcept {
  for (const std::int64_t flag :
       {a.reversed, a.has_state, a.has_biases, a.has_projection, a.has_lengths, a.has_dy, a.has_dh, a.has_dc})
    if (!is_flag(flag)) return false;
  if (!is_known(a.cell)) return false;
  if (!has_c(a.cell) && (a.has_projection != 0 || a.has_dc != 0)) return false;
  const bool has_gradient = a.has_dy != 0 || a.has_dh != 0 || a.has_dc != 0;
  if (what == op::recurrence) return !has_gradient && recurrence_places(a).counts() == n;
  return has_gradient && recurrence_gradient_places(a).counts() == n;
}
constexpr std::size_t count_value_inputs(op, const recurrence_attributes& a, const node_counts& n) noexcept {
  return n.inputs - (a.has_lengths != 0 ? 1u : 0u);
}

}  // namespace troupe::dnn
