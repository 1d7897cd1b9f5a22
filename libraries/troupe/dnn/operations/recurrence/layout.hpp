// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>

/// The layout of a recurrence's reserve.
namespace troupe::dnn::detail {

/// The largest number of steps, labels or classes. Counts are computed in f32, which represents all integers up to it.
inline constexpr std::int64_t most_counted = 1 << 24;

constexpr std::int64_t gates_of(recurrent_cell c) noexcept {
  return c == recurrent_cell::lstm ? 4 : c == recurrent_cell::gru ? 3 : 1;
}

/// The extents of a recurrence, and the layout of its reserve: the values that the forward operation stores for the
/// gradient. The reserve has a line for each step of each sequence. A line holds, in this order: the activated gates;
/// for a GRU, what the reset gate multiplies; for an LSTM, c of the previous step; with a projection, h before it; h of
/// the previous step.
struct recurrence_layout {
  recurrent_cell cell;
  bool reversed;
  std::int64_t time, batch, inputs, hidden, width;                             ///< width: elements of h
  std::int64_t rows;                                                           ///< rows of both weights: gates * hidden
  std::int64_t before_reset = 0, c_before = 0, unprojected = 0, h_before = 0;  ///< offsets in a line, in elements
  std::int64_t line = 0;                                                       ///< elements of a line

  constexpr recurrence_layout(const recurrence_attributes& a, const tensor_shape& x,
                              const tensor_shape& recurrent) noexcept
      : cell(a.cell),
        reversed(a.reversed != 0),
        time(x.extents[0]),
        batch(x.extents[1]),
        inputs(x.extents[2]),
        hidden(recurrent.extents[0] / gates_of(a.cell)),
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
    if (a.has_projection != 0) unprojected = next(hidden);
    h_before = next(width);
  }

  std::int64_t lines() const noexcept { return time * batch; }
  /// Returns the index of the step that is processed as number `n`, counted from 0.
  std::int64_t step(std::int64_t n) const noexcept { return reversed ? time - 1 - n : n; }
  /// Returns the number of elements of a line of the gates' gradients. In a GRU, a line holds two gradients, because
  /// those for x and for h differ.
  std::int64_t gate_gradients() const noexcept { return cell == recurrent_cell::gru ? 2 * rows : rows; }
  std::int64_t recurrent_gradients_offset() const noexcept { return gate_gradients() - rows; }
};

}  // namespace troupe::dnn::detail
