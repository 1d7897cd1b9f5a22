// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>

#include "kernel_arguments.hpp"

/// Arguments of the kernels of response_norm.cuh, resampling.cuh, blocks.cuh, lines.cuh, and of pooling with indexes.
namespace troupe::dnn::kernel_arguments {

struct response_norm_arguments {
  std::int64_t images, channels, between;  ///< between: stride of neighboring channels, in elements
  const void *x, *dy;
  void* to;
  std::int64_t size;
  double alpha, beta, k;
};

struct resampling_arguments {
  std::int64_t planes, in[3], out[3];  ///< extents of the image and of the result
  /// Taps: elements of the image that an element of the result is interpolated from, along each axis.
  std::int64_t taps[3];
  resampling_coordinates coordinates;
  nearest_rounding rounding;
  const void* from;
  void* to;
};

/// Arguments of pooling with indexes and of its gradient; see pooling_arguments for g and planes.
struct indexed_pooling_arguments {
  windows::geometry g;
  std::int64_t planes;
  const void *x, *dy, *given;  ///< given: the indexes that the gradient reads
  void *to, *found;            ///< found: the indexes that pooling writes
};

struct block_scaling_arguments {
  std::int64_t rows, length, width, block;  ///< blocks are along `length`; width: product of the later extents
  std::uint64_t elements, scales;           ///< types of the elements and of the scales
  const void* from;
  void* to;
  void* by;  ///< the scales of the blocks
};

/// Arguments of scatter_add: see parts_along. Each block has `scatter_threads` threads.
inline constexpr unsigned scatter_threads = 256;
struct scatter_arguments {
  std::int64_t outer, extent, inner, count;
  const void *parts, *indexes;
  std::int64_t has_long_indexes;  ///< 1 if indexes are i64, otherwise they are i32
  void* to;
};

/// Arguments of operations on the lines along an axis, see lines_along. Each block has `line_threads` threads.
inline constexpr unsigned line_threads = 256;
struct cumulative_arguments {
  std::int64_t outer, extent, inner;
  std::int64_t columns;  ///< number of neighboring lines that a block computes, a power of 2 up to 32
  std::int64_t exclusive, reversed;
  const void* x;
  void* y;
};
struct top_k_arguments {
  std::int64_t outer, extent, inner;
  std::int64_t count;  ///< number of elements that are selected from each line
  std::int64_t smallest;
  const void* x;
  void *values, *indexes;
  std::int32_t* chosen;  ///< workspace: the indexes of the elements selected from each line, in any order
};

}  // namespace troupe::dnn::kernel_arguments
