// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernels in kernels.cu. Compiled by the host compiler and nvcc.
namespace troupe::matmul::kernel_arguments {

/// Copies lines, or a batch of such matrices, so that the elements of each are neighbours: element e of line l is at
/// e * along + l * across, and goes to e + l * padded. Elements from `length` to `padded` are 0.
struct arranging {
  const void* from;
  void* to;
  std::int64_t lines, length, padded, along, across, batch, from_stride;
};

}  // namespace troupe::matmul::kernel_arguments
