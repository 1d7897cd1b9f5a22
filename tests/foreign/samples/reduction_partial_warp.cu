// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Sums by shuffles where the last warp is not full, and where fewer partial sums than lanes are left: masks and ballots say
 * who takes part.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

template <class T>
__device__ __forceinline__ T sumOfLanes(unsigned int mask, T v) {
  for (int lanes = warpSize / 2; lanes > 0; lanes >>= 1) v += __shfl_down_sync(mask, v, lanes);
  return v;
}

#if __CUDA_ARCH__ >= 800
// one instruction, where there is one
template <>
__device__ __forceinline__ int sumOfLanes<int>(unsigned int mask, int v) {
  return __reduce_add_sync(mask, v);
}
#endif

template <typename T, unsigned int threads>
__global__ void sumPartialWarps(const T *__restrict__ in, T *__restrict__ out, unsigned int n) {
  __shared__ T ofWarps[32];
  const unsigned int t = threadIdx.x, inLast = threads & 31;
  const unsigned int mask = inLast ? 0xffffffff >> (32 - inLast) : 0xffffffff;

  T mine = 0;
  for (unsigned int i = blockIdx.x * threads + t; i < n; i += threads * gridDim.x) mine += in[i];
  mine = sumOfLanes<T>(mask, mine);
  if (t % warpSize == 0) ofWarps[t / warpSize] = mine;
  __syncthreads();

  // the ballot is of all lanes that got so far, the sum of those below `left` alone
  const unsigned int left = threads > 32 ? threads / warpSize : 1;
  const unsigned int few = __ballot_sync(mask, t < left);
  if (t < left) mine = sumOfLanes<T>(few, ofWarps[t]);
  if (t == 0) out[blockIdx.x] = mine;
}

template <class T>
__global__ void sumByGroups(const T *in, T *out, unsigned int n) {
  __shared__ T ofTiles[32];
  cg::grid_group grid = cg::this_grid();
  cg::thread_block cta = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cta);
  T mine = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) mine += in[i];
  ofTiles[tile.meta_group_rank()] = cg::reduce(tile, mine, cg::plus<T>());
  cg::sync(cta);
  if (cta.thread_rank() == 0) {
    T sum = 0;
    for (int i = 0; i < tile.meta_group_size(); i++) sum += ofTiles[i];
    out[cta.group_index().x] = sum;
  }
}
