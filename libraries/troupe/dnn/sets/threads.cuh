// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/sets/combining.hpp>

/// Functions that combine the values of the threads of a set, in the order of sets::set_partition. All threads of the
/// block must call them.
namespace troupe::dnn::sets {

/// Combines values of several sets in shared memory: `of_sets[j * all + i * pitch]` is for thread i of set j.
template <unsigned Sets>
__device__ void combine_in_memory(double (&mine)[Sets], reduction_kind how, unsigned thread, unsigned threads,
                                  double* of_sets, unsigned pitch, unsigned all) {
  for (unsigned j = 0; j < Sets; ++j) of_sets[j * all + thread * pitch] = mine[j];
  __syncthreads();
  const auto combine_pairs = [&](unsigned apart) {
    for (unsigned j = 0; j < Sets && (thread & apart) == 0; ++j) {
      double& first = of_sets[j * all + thread * pitch];
      first = combine(how, first, of_sets[j * all + (thread + apart) * pitch]);
    }
    __syncthreads();
  };
  for (unsigned apart = 16; apart != 0; apart /= 2)
    if (apart < threads) combine_pairs(apart);
  for (unsigned apart = threads / 2; apart >= 32; apart /= 2) combine_pairs(apart);
  for (unsigned j = 0; j < Sets; ++j) mine[j] = of_sets[j * all];
  __syncthreads();
}
/// Combines the values of a set whose threads are neighbors; `all` has an element for each thread of the block.
__device__ inline double combine_in_memory(double mine, reduction_kind how, unsigned thread, unsigned threads,
                                           double* all) {
  double of_set[1] = {mine};
  combine_in_memory(of_set, how, thread, threads, all + (threadIdx.x - thread), 1, 0);
  return of_set[0];
}

/// Combines the values of `Threads` neighboring threads; the block has `All`.
template <reduction_kind How, unsigned Threads, unsigned All>
__device__ double combine_neighbors(double mine) {
  if constexpr (Threads == 1) return mine;
#ifdef __CUDA_ARCH__
  const auto combine_lanes = [&mine](unsigned apart) {
    const double other = __shfl_xor_sync(0xffffffffu, mine, static_cast<int>(apart));
    mine = (threadIdx.x & apart) != 0 ? combine(How, other, mine) : combine(How, mine, other);
  };
#pragma unroll
  for (unsigned apart = 16; apart != 0; apart /= 2)
    if (apart < Threads) combine_lanes(apart);
  if constexpr (Threads > 32) {
    constexpr unsigned warps = Threads / 32;
    __shared__ double of_warps[All / 32];
    __syncthreads();  // an earlier call may still read it
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = of_warps[threadIdx.x / Threads * warps + threadIdx.x % warps];
#pragma unroll
    for (unsigned apart = 16; apart != 0; apart /= 2)
      if (apart < warps) combine_lanes(apart);
  }
  return mine;
#else
  __shared__ double all[All];
  return combine_in_memory(mine, How, threadIdx.x % Threads, Threads, all);
#endif
}

/// Combines the values of `Threads` threads for each of `Sets` sets. Thread t of the sets of lane l < `Lanes` is thread
/// t * Lanes + l of those of a line; the block has `All` threads. `memory` is shared, and has an element for each thread
/// and set.
template <reduction_kind How, unsigned Threads, unsigned Lanes, unsigned All, unsigned Sets>
__device__ void combine_columns(double (&mine)[Sets], double* memory) {
  if constexpr (Threads != 1) {
    const unsigned thread = threadIdx.x / Lanes % Threads;
    combine_in_memory(mine, How, thread, Threads, memory + (threadIdx.x - thread * Lanes), Lanes, All);
  }
}

}  // namespace troupe::dnn::sets
