// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.cuh"

namespace troupe::dnn::on_gpu {

using kernel_arguments::set_threads;

/// Combines the values `mine` of all threads of the block, and returns the result in each of them.
template <class Combine>
__device__ double combine_threads(double mine, const Combine& combine) {
  __shared__ double all[set_threads];
  all[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = set_threads / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) all[threadIdx.x] = combine(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
  const double out = all[0];
  __syncthreads();
  return out;
}

}  // namespace troupe::dnn::on_gpu
