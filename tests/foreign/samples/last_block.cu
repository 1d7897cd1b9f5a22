// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * A sum in one launch: the block that comes last adds up what the others have left. The last warp goes without barriers, by
 * volatile memory, as all code did that is old enough.
 */
#include <stdio.h>
#include <cuda_runtime.h>

#if CUDART_VERSION >= 9000
#define BALLOT(condition) __ballot_sync(0xffffffff, condition)
#else
#define BALLOT(condition) __ballot(condition)
#endif

__device__ unsigned int retirementCount = 0;

template <unsigned int blockSize>
__device__ void reduceBlock(volatile float *sdata, float mySum, const unsigned int tid) {
  sdata[tid] = mySum;
  __syncthreads();
  if (blockSize >= 256) {
    if (tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128];
    __syncthreads();
  }
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64];
    __syncthreads();
  }
  // the threads of a warp go together
  if (tid < 32) {
    if (blockSize >= 64) sdata[tid] = mySum = mySum + sdata[tid + 32];
    if (blockSize >= 32) sdata[tid] = mySum = mySum + sdata[tid + 16];
    if (blockSize >= 16) sdata[tid] = mySum = mySum + sdata[tid + 8];
    if (blockSize >= 8) sdata[tid] = mySum = mySum + sdata[tid + 4];
    if (blockSize >= 4) sdata[tid] = mySum = mySum + sdata[tid + 2];
    if (blockSize >= 2) sdata[tid] = mySum = mySum + sdata[tid + 1];
  }
}

template <unsigned int blockSize>
__global__ void sumSinglePass(const float *in, volatile float *parts, float *out, unsigned int n) {
  // twice the warp, since the tail reads behind its end
  __shared__ float smem[blockSize + 32];
  const unsigned int tid = threadIdx.x;
  float mySum = 0;
  for (unsigned int i = blockIdx.x * blockSize + tid; i < n; i += blockSize * gridDim.x) mySum += in[i];
  reduceBlock<blockSize>(smem, mySum, tid);
  if (tid == 0) parts[blockIdx.x] = smem[0];
  if (gridDim.x == 1) {
    if (tid == 0) *out = smem[0];
    return;
  }

  __shared__ bool amLast;
  __threadfence();
  if (tid == 0) {
    const unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
    amLast = (ticket == gridDim.x - 1);
  }
  __syncthreads();
  if (amLast) {
    mySum = 0;
    for (unsigned int i = tid; i < gridDim.x; i += blockSize) mySum += parts[i];
    reduceBlock<blockSize>(smem, mySum, tid);
    if (tid == 0) {
      *out = smem[0];
      retirementCount = 0;  // for the next launch
    }
  }
}

__global__ void countPositive(const float *in, int *counts) {
  const unsigned int mask = BALLOT(in[blockIdx.x * blockDim.x + threadIdx.x] > 0);
  if (threadIdx.x % 32 == 0) counts[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = __popc(mask);
}
