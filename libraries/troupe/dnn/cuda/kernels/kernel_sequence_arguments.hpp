// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/cuda/kernels/kernel_arguments.hpp>

/// Arguments of the kernels of recurrences and of the CTC loss; see kernel_arguments.hpp.
namespace troupe::dnn::kernel_arguments {

/// The extents and the reserve's layout of a recurrence, see detail::recurrence_layout.
struct recurrence_shape {
  std::int64_t cell, time, batch, inputs, hidden, width, rows;
  std::int64_t before_reset, c_before, unprojected, h_before, line, gate_gradients, recurrent_gradients_offset;
  const std::int32_t* lengths;  ///< nullptr if all sequences have all steps
};
struct recurrence_arguments {
  recurrence_shape of;
  std::int64_t step;
  const void *h0, *c0, *input_bias, *recurrent_bias;
  void *y, *h, *c, *reserve;
};
/// Arguments of the kernels of a recurrence's gradient; for the workspace, see recurrence_workspace.
struct recurrence_gradient_arguments {
  recurrence_shape of;
  std::int64_t step;
  const void *x, *dy, *dlast_h, *dlast_c, *reserve;
  void *gate_gradients, *dh, *dc, *projected, *of_units, *used_x;
};
/// Columns that a block of add_lines sums (a thread sums 4 of them), lines that the block reads at a time, and its
/// threads.
inline constexpr unsigned added_columns = 128, added_lines = 16, adding_threads = added_columns / 4 * added_lines;
/// Arguments of add_lines, which sums the columns of one or two tables. `stride` is the stride of lines, in elements.
struct add_lines_arguments {
  std::int64_t lines, columns, stride;
  struct {
    const void* x;
    void* to;  ///< nullptr if there is no second table
  } tables[2];

  constexpr std::int64_t blocks_of_table() const noexcept { return divided_up(columns, added_columns); }
  constexpr std::int64_t blocks() const noexcept { return blocks_of_table() * (tables[1].to != nullptr ? 2 : 1); }
};

/// Arguments of the kernels of the CTC loss and its gradient; for the workspace, see ctc_workspace.
struct ctc_arguments {
  std::int64_t time, batch, classes, longest, blank, states;
  std::int64_t retained_steps;  ///< number of steps whose sums `forward` has memory for
  const void *logits, *dloss;
  const std::int32_t *labels, *steps, *counts;
  double *norms, *forward, *backward, *next, *losses;
  void* to;  ///< the losses; for the gradient, the gradient of the logits
};

}  // namespace troupe::dnn::kernel_arguments
