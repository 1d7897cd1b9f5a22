// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernel_arguments.hpp"

/// Operands as tensor cores need them, where they are stored otherwise.
namespace troupe::matmul::on_gpu {

using kernel_arguments::arranging;

/// Blocks of 32 x 8 threads; a tile of 32 x 32 elements at a time, so that both sides are read and written in order.
template <class In, class Out>
__device__ void arrange(const arranging& a) {
  constexpr unsigned width = 32, height = 8;
  __shared__ Out tile[width][width + 1];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * width;
  for (std::int64_t b = blockIdx.z; b < a.batch; b += gridDim.z)
    for (std::int64_t l = static_cast<std::int64_t>(blockIdx.y) * width; l < a.lines;
         l += static_cast<std::int64_t>(gridDim.y) * width) {
      const In* const from = static_cast<const In*>(a.from) + b * a.from_stride;
      Out* const to = static_cast<Out*>(a.to) + b * a.lines * a.padded;
      const bool in_order = a.along == 1;
      for (unsigned i = threadIdx.y; i < width; i += height) {
        // Neighbouring threads read neighbours: of a line, or of an element's place in several lines.
        const unsigned e = in_order ? threadIdx.x : i, line = in_order ? i : threadIdx.x;
        const std::int64_t element = first + e, of = l + line;
        tile[line][e] = element < a.length && of < a.lines
                            ? static_cast<Out>(from[element * a.along + of * a.across])
                            : static_cast<Out>(0);
      }
      __syncthreads();
      for (unsigned i = threadIdx.y; i < width; i += height)
        if (first + threadIdx.x < a.padded && l + i < a.lines)
          to[(l + i) * a.padded + first + threadIdx.x] = tile[i][threadIdx.x];
      __syncthreads();
    }
}

}  // namespace troupe::matmul::on_gpu
