// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/kernels/rows_arguments.hpp>

/// Arguments of the kernels of normalizations over all axes but the channels, for dense tensors whose channels are
/// neighbors in memory. A row is all channels of one position of one image.
namespace troupe::dnn::kernel_arguments {

/// Threads of a block, and the most lanes of a block. A lane is 8 channels; a thread processes one lane, in some of the
/// rows.
inline constexpr unsigned column_threads = 256, most_lanes = 32;
/// Channels that a block combines at a time: it adds the sums of all parts of the rows.
inline constexpr unsigned channels_of_block = 8;

struct columns {
  std::int64_t rows, channels;
  std::int64_t rows_of_part;
  std::uint32_t parts;          ///< parts into which the rows are divided, of `rows_of_part` rows
  std::uint32_t lanes, groups;  ///< lanes of a block, a power of 2; groups of that many lanes
};

struct sum_columns_arguments {
  columns all;
  typed_memory x;
  double *sums, *squares;  ///< by part and channel
};
struct combine_columns_arguments {
  columns all;
  const double *sums, *squares;
  float *mean, *deviation;
  const float *running_mean, *running_variance;  ///< nullptr if absent
  float *next_mean, *next_variance;
  double epsilon, momentum;
};
struct normalize_columns_arguments {
  columns all;
  typed_memory x;
  const float *mean, *deviation;
  const float *scale, *offset;  ///< nullptr if absent
  void* y;
  dtype type_of_y;
};

struct sum_columns_gradient_arguments {
  columns all;
  typed_memory dy, x;
  const float *mean, *deviation;
  double *gradients, *along;  ///< by part and channel: sums of dy, and of dy * normalized x
};
struct combine_columns_gradient_arguments {
  columns all;
  const double *gradients, *along;
  float *mean_gradient, *mean_along;
  float *dscale, *doffset;  ///< nullptr if absent
};
struct normalize_columns_gradient_arguments {
  columns all;
  typed_memory dy, x;
  const float *mean, *deviation, *mean_gradient, *mean_along;
  const float* scale;  ///< nullptr if absent
  void* dx;
  dtype type_of_dx;
};

}  // namespace troupe::dnn::kernel_arguments
