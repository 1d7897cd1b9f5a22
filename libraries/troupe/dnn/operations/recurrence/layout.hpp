// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>

/// Positions of a recurrence's tensors among its inputs and outputs, and the layout of its reserve.
namespace troupe::dnn::detail {

/// The largest number of steps, labels or classes: counts are computed in f32, which represents all integers up to it.
inline constexpr std::int64_t most_counted = 1 << 24;

constexpr std::int64_t gates_of(recurrent_cell c) noexcept {
  return c == recurrent_cell::lstm ? 4 : c == recurrent_cell::gru ? 3 : 1;
}
constexpr bool has_c(recurrent_cell c) noexcept { return c == recurrent_cell::lstm; }

/// The indexes of a recurrence's inputs and outputs; `absent` for those that it does not have.
struct recurrence_places {
  std::size_t inputs = 0, outputs = 0;
  std::size_t x, w, r, h, c, input_bias, recurrent_bias, projection, lengths;
  std::size_t y, last_h, last_c, reserve;
  constexpr explicit recurrence_places(const recurrence_attributes& f) noexcept
      : x(inputs++),
        w(inputs++),
        r(inputs++),
        h(next_index(inputs, f.has_state != 0)),
        c(next_index(inputs, f.has_state != 0 && has_c(f.cell))),
        input_bias(next_index(inputs, f.has_biases != 0)),
        recurrent_bias(next_index(inputs, f.has_biases != 0)),
        projection(next_index(inputs, f.has_projection != 0)),
        lengths(next_index(inputs, f.has_lengths != 0)),
        y(outputs++),
        last_h(outputs++),
        last_c(next_index(outputs, has_c(f.cell))),
        reserve(outputs++) {}
};
struct recurrence_gradient_places {
  std::size_t inputs = 0, outputs = 0;
  std::size_t x, w, r, reserve, dy, dlast_h, dlast_c, projection, lengths;
  std::size_t dx, dw, dr, dinput_bias, drecurrent_bias, dprojection, dh, dc;
  constexpr explicit recurrence_gradient_places(const recurrence_gradient_attributes& f) noexcept
      : x(inputs++),
        w(inputs++),
        r(inputs++),
        reserve(inputs++),
        dy(next_index(inputs, f.has_dy != 0)),
        dlast_h(next_index(inputs, f.has_dh != 0)),
        dlast_c(next_index(inputs, f.has_dc != 0)),
        projection(next_index(inputs, f.has_projection != 0)),
        lengths(next_index(inputs, f.has_lengths != 0)),
        dx(outputs++),
        dw(outputs++),
        dr(outputs++),
        dinput_bias(next_index(outputs, f.has_biases != 0)),
        drecurrent_bias(next_index(outputs, f.has_biases != 0)),
        dprojection(next_index(outputs, f.has_projection != 0)),
        dh(next_index(outputs, f.has_state != 0)),
        dc(next_index(outputs, f.has_state != 0 && has_c(f.cell))) {}
};

/// The extents of a recurrence, and the layout of its reserve, which has a line for each step of each sequence. A line
/// holds the gates after their functions; for a GRU, the factor of the reset gate; for an LSTM, c before the step, and
/// the state before the projection if there is one; then h before the step.
struct recurrence_layout {
  recurrent_cell cell;
  bool reversed;
  std::int64_t time, batch, inputs, hidden, width;                             ///< width: that of h
  std::int64_t rows;                                                           ///< rows of both weights: gates * hidden
  std::int64_t before_reset = 0, c_before = 0, unprojected = 0, h_before = 0;  ///< offsets in a line, in elements
  std::int64_t line = 0;                                                       ///< elements of a line

  constexpr recurrence_layout(const recurrence_attributes& f, const tensor_shape& x,
                              const tensor_shape& recurrent) noexcept
      : cell(f.cell),
        reversed(f.reversed != 0),
        time(x.extents[0]),
        batch(x.extents[1]),
        inputs(x.extents[2]),
        hidden(recurrent.extents[0] / gates_of(f.cell)),
        width(recurrent.extents[1]),
        rows(recurrent.extents[0]) {
    line = rows;
    const auto next = [this](std::int64_t count) {
      const std::int64_t at = line;
      line += count;
      return at;
    };
    if (cell == recurrent_cell::gru) before_reset = next(hidden);
    if (has_c(cell)) c_before = next(hidden);
    if (f.has_projection != 0) unprojected = next(hidden);
    h_before = next(width);
  }

  std::int64_t lines() const noexcept { return time * batch; }
  /// Returns the index of the `n`th step, in the order of computation.
  std::int64_t step(std::int64_t n) const noexcept { return reversed ? time - 1 - n : n; }
  /// Returns the elements of a line of the gates' gradients. In a GRU, the gradients for x and for h differ, so that a
  /// line holds both.
  std::int64_t gate_gradients() const noexcept { return cell == recurrent_cell::gru ? 2 * rows : rows; }
  std::int64_t recurrent_gradients_offset() const noexcept { return gate_gradients() - rows; }
};

}  // namespace troupe::dnn::detail
