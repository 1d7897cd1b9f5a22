// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.cuh"
#include "kernel_image_arguments.hpp"

/// Sums of the parts of a tensor that have the same index along an axis.
namespace troupe::dnn::on_gpu {

/// Returns false if x is false in all threads of the block; on the host, it does not know.
__device__ inline bool may_be_true_in_block([[maybe_unused]] bool x) {
#ifdef __CUDA_ARCH__
  return __syncthreads_or(x) != 0;
#else
  return true;
#endif
}

__device__ inline i64 index_at(const kernel_arguments::scatter_arguments& r, i64 at) {
  return r.has_long_indexes != 0 ? static_cast<const std::int64_t*>(r.indexes)[at]
                                 : static_cast<const std::int32_t*>(r.indexes)[at];
}

/// A block computes one line of the result at a time, adding parts in their order. It looks at as many indexes at a time
/// as it has threads.
template <class N>
__device__ void scatter_add(const kernel_arguments::scatter_arguments& r) {
  constexpr int most_columns = 8;  // of a thread
  __shared__ bool matches[kernel_arguments::scatter_threads];
  for (i64 line = blockIdx.x; line < r.outer * r.extent; line += gridDim.x) {
    const i64 outer = line / r.extent, index = line % r.extent;
    for (i64 begin = threadIdx.x; begin - threadIdx.x < r.inner; begin += most_columns * blockDim.x) {
      N sums[most_columns] = {};
      for (i64 first = 0; first < r.count; first += blockDim.x) {
        const i64 mine = first + threadIdx.x;
        const bool is_match = mine < r.count && index_at(r, mine) == index;
        if (!may_be_true_in_block(is_match)) continue;
        matches[threadIdx.x] = is_match;
        __syncthreads();
        for (i64 k = first; k < first + blockDim.x && k < r.count; ++k) {
          if (!matches[k - first]) continue;
          const N* const part = static_cast<const N*>(r.parts) + (outer * r.count + k) * r.inner;
          for (int c = 0; c < most_columns; ++c)
            if (const i64 column = begin + c * blockDim.x; column < r.inner) sums[c] += part[column];
        }
        __syncthreads();
      }
      for (int c = 0; c < most_columns; ++c)
        if (const i64 column = begin + c * blockDim.x; column < r.inner)
          static_cast<N*>(r.to)[line * r.inner + column] = sums[c];
    }
  }
}

KERNELS(scatter_add, scatter_arguments, scatter_add)

}  // namespace troupe::dnn::on_gpu
