// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/cuda/kernel_arguments.hpp>

/// What kernels for sequences are given; see kernel_arguments.hpp.
namespace troupe::dnn::kernel_arguments {

/// See detail::recurrence_layout.
struct recurrence {
  std::int64_t cell, time, batch, inputs, hidden, width, rows;
  std::int64_t before_reset, c_before, unprojected, h_before, line, slopes, recurrent_gradients;
  const std::int32_t* lengths;  ///< null: all sequences have all steps
};
struct recurring {
  recurrence of;
  std::int64_t step;
  const void *h0, *c0, *input_bias, *recurrent_bias;
  void *y, *h, *c, *reserve;
};
/// See recurrence_workspace.
struct recurring_back {
  recurrence of;
  std::int64_t step;
  const void *x, *dy, *dlast_h, *dlast_c, *reserve;
  void *slopes, *dh, *dc, *projected, *of_units, *kept_x;
};
/// What a block adds: columns, of which a thread has 4, and lines at a time.
inline constexpr unsigned added_columns = 128, added_lines = 16, adding_threads = added_columns / 4 * added_lines;
/// The sums of columns, whose lines lie `stride` apart, of one or two tables.
struct adding_lines {
  std::int64_t lines, columns, stride;
  struct {
    const void* x;
    void* to;  ///< of the second: nullptr if there is none
  } tables[2];

  constexpr std::int64_t blocks_of_table() const noexcept { return divided_up(columns, added_columns); }
  constexpr std::int64_t blocks() const noexcept { return blocks_of_table() * (tables[1].to != nullptr ? 2 : 1); }
};

/// See ctc_workspace.
struct aligning {
  std::int64_t time, batch, classes, longest, blank, states;
  std::int64_t kept;  ///< the steps whose sums are kept
  const void *logits, *dloss;
  const std::int32_t *labels, *steps, *counts;
  double *norms, *forward, *backward, *next, *losses;
  void* to;  ///< losses, or the gradient of the logits
};

}  // namespace troupe::dnn::kernel_arguments
