// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_arguments.hpp"

/// Arguments of the kernels of images.cuh and blocks.cuh.
namespace troupe::dnn::kernel_arguments {

struct normalizing_responses {
  std::int64_t images, channels, between;  ///< between: elements between two neighbouring channels
  const void *x, *dy;
  void* to;
  std::int64_t size;
  double alpha, beta, k;
};

struct resampling {
  std::int64_t planes, in[3], out[3];  ///< extents of the image and of the result
  std::int64_t taps[3], aligned;
  const void* from;
  void* to;
};

/// Pooling with indexes, see `pooling`.
struct indexing {
  windows g;
  std::int64_t planes;
  const void *x, *dy, *given;  ///< given: the indexes, for the gradient
  void *to, *found;
};

struct scaling_blocks {
  std::int64_t rows, length, width, block;  ///< width: stride along the axis of the blocks
  std::uint64_t elements, scales;           ///< their types
  const void* from;
  void* to;
  void* by;  ///< the scales
};

}  // namespace troupe::dnn::kernel_arguments
