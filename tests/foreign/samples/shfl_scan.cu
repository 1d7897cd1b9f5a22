// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prefix sums by shuffles: within warps, over the warps of a block, over blocks. And an integral image by vector types.
#include <stdio.h>
#include <cuda_runtime.h>

// sums of blocks go to `totals`, if there is such an array
__global__ void scan_blocks(int *values, int lanes, int *totals = NULL) {
  extern __shared__ int of_warps[];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = at % warpSize, warp = threadIdx.x / warpSize, warps = blockDim.x / warpSize;

  int sum = values[at];
#pragma unroll
  for (int reach = 1; reach < lanes; reach *= 2) {
    const int left = __shfl_up_sync(0xffffffff, sum, reach, lanes);
    if (lane >= reach) sum += left;
  }
  if (lane == warpSize - 1) of_warps[warp] = sum;
  __syncthreads();

  // the lanes of the first warp that have a warp to care for: no others are in the mask
  if (warp == 0 && lane < warps) {
    const unsigned mask = (1u << warps) - 1;
    int total = of_warps[lane];
    for (int reach = 1; reach < warps; reach *= 2) {
      const int left = __shfl_up_sync(mask, total, reach, warps);
      if (lane >= reach) total += left;
    }
    of_warps[lane] = total;
  }
  __syncthreads();

  if (warp > 0) sum += of_warps[warp - 1];
  values[at] = sum;
  if (totals != NULL && threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = sum;
}

__global__ void add_totals(int *values, const int *totals, int n) {
  __shared__ int before;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n || blockIdx.x == 0) return;
  if (threadIdx.x == 0) before = totals[blockIdx.x - 1];
  __syncthreads();
  values[at] += before;
}

// A block for each row of an image, four pixels for each thread.
__global__ void integral_rows(const uint4 *image, uint4 *integral, int quads) {
  __shared__ unsigned int of_warps[32];
  const int at = blockIdx.x * quads + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint4 q = image[at];
  q.y += q.x;
  q.z += q.y;
  q.w += q.z;
  unsigned int sum = q.w;
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    const unsigned int left = __shfl_up_sync(0xffffffff, sum, reach, 32);
    if (lane >= reach) sum += left;
  }
  if (lane == 31) of_warps[warp] = sum;
  __syncthreads();
  unsigned int before = sum - q.w;
  for (int w = 0; w < warp; ++w) before += of_warps[w];
  q.x += before;
  q.y += before;
  q.z += before;
  q.w += before;
  integral[at] = q;
}
