// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/rows_arguments.hpp>

/// Arguments of the kernels of normalisations over all axes but the channels, of tensors whose channels are neighbours,
/// without gaps. A row has all channels of one position.
namespace troupe::dnn::kernel_arguments {

/// Threads of a block, and its most lanes. A thread has 8 channels of some rows; a lane is 8 channels.
inline constexpr unsigned column_threads = 256, most_lanes = 32;
/// Channels of a block that combines the parts.
inline constexpr unsigned channels_of_block = 8;

struct columns {
  std::int64_t rows, channels;
  std::int64_t rows_of_part;
  std::uint32_t parts;          ///< of the rows
  std::uint32_t lanes, groups;  ///< lanes of a block, a power of 2; groups of lanes, each with different blocks
};

struct summing_columns {
  columns all;
  numbers_of_rows x;
  double *sums, *squares;  ///< [part][channel]
};
struct combining_columns {
  columns all;
  const double *sums, *squares;
  float *mean, *deviation;
  const float *running_mean, *running_variance;  ///< or nullptr
  float *next_mean, *next_variance;
  double epsilon, momentum;
};
struct normalizing_columns {
  columns all;
  numbers_of_rows x;
  const float *mean, *deviation;
  const float *scale, *offset;  ///< or nullptr
  void* y;
  dtype type_of_y;
};

struct summing_columns_back {
  columns all;
  numbers_of_rows dy, x;
  const float *mean, *deviation;
  double *gradients, *along;  ///< [part][channel]: sums of dy, and of dy times the normalised x
};
struct combining_columns_back {
  columns all;
  const double *gradients, *along;
  float *mean_gradient, *mean_along;
  float *dscale, *doffset;  ///< or nullptr
};
struct normalizing_columns_back {
  columns all;
  numbers_of_rows dy, x;
  const float *mean, *deviation, *mean_gradient, *mean_along;
  const float* scale;  ///< or nullptr
  void* dx;
  dtype type_of_dx;
};

}  // namespace troupe::dnn::kernel_arguments
