// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernels of dnn. Plain numbers: host and device compile them alike.
namespace troupe::dnn::kernel_arguments {

constexpr std::int64_t divided_up(std::int64_t n, std::int64_t by) noexcept { return (n + by - 1) / by; }

/// Threads of a block that computes a set of elements.
inline constexpr unsigned set_threads = 128;
inline constexpr int most_operations = 64, most_operands = 20, most_axes = 8, most_sequences = 4;

/// See elementwise_kernel::operation.
struct operation {
  enum what : std::uint8_t { read, number, apply, round, write, random };
  std::uint8_t what, function, type, operand;
  std::uint8_t from[3], unused;
  double value;
};
struct operand {
  void* memory;
  std::uint64_t type;
  std::int64_t strides[most_axes];
};
/// See elementwise_kernel::sequence.
struct sequence {
  std::uint64_t seed, offset;
  std::uint32_t kind, limit;   ///< of bernoulli
  const std::uint32_t* words;  ///< nullptr: the seed is by value
  std::int64_t word_count, word_stride;
};
struct pausing {};
/// An elementwise kernel. The first axis is the slowest.
struct elements {
  std::int64_t rank, extents[most_axes], count;
  std::uint64_t operations;
  operation all[most_operations];
  operand operands[most_operands];
  sequence sequences[most_sequences];
};

/// Axes, and the strides of three tensors along them.
struct axis_values {
  std::int64_t rank, count;
  std::int64_t extents[most_axes], x[most_axes], scale[most_axes], statistics[most_axes];
};
/// Elements in sets: `outside` has an element for each set, `inside` has those of one set.
struct sets {
  axis_values outside, inside;
};

struct reducing {
  sets all;
  const void* x;
  void* y;
  std::int64_t kind;  ///< reduction_kind
};
struct softmaxing {
  sets all;
  const void *x, *dy;  ///< for the gradient, x is y
  void* to;
  std::int64_t logarithmic;
};
struct normalizing {
  sets all;
  const void *x, *scale, *offset, *running_mean, *running_variance;
  void *y, *mean, *deviation, *next_mean, *next_variance;
  std::int64_t rms;
  double epsilon, momentum;
};
struct normalizing_back {
  sets all;
  const void *dy, *x, *mean, *deviation, *scale;
  void *dx, *dscale, *doffset;  ///< dx, or one or two of the others
  std::int64_t rms;
};

/// Images and windows, always with three spatial axes.
struct windows {
  std::int64_t in[3], out[3], width[3], padding_before[3], stride[3], dilation[3];
};
struct convolving {
  windows g;
  std::int64_t images, groups, channels, out_channels;  ///< channels of a group
  const void *a, *b;                                    ///< x or dy; filters, or x of the gradient of the filters
  void* to;
};
struct pooling {
  windows g;
  std::int64_t planes, kind;
  const void *x, *dy;
  void* to;
};

/// Threads of a block that computes a tile of a product.
inline constexpr unsigned product_threads = 256;

struct multiplying {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, c_row;  ///< strides
  std::int64_t adds;                                     ///< 1: adds to c
  axis_values batch;                                     ///< x: a, scale: b, statistics: c
  const void *a, *b;
  void* c;
};

}  // namespace troupe::dnn::kernel_arguments
