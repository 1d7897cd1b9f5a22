// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Bitonic sort of keys with values: what fits in shared memory at once, and steps over global memory.
 */
#include <assert.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

typedef unsigned int uint;
#define IN_BLOCK 256U

__device__ inline void exchange(uint &keyA, uint &valA, uint &keyB, uint &valB, uint upwards) {
  uint t;
  if ((keyA > keyB) == upwards) {
    t = keyA;
    keyA = keyB;
    keyB = t;
    t = valA;
    valA = valB;
    valB = t;
  }
}

// blocks of IN_BLOCK / 2 threads; every second block sorts downwards
__global__ void sortShared(uint *keys, uint *values) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ uint k[IN_BLOCK];
  __shared__ uint v[IN_BLOCK];
  keys += blockIdx.x * IN_BLOCK + threadIdx.x;
  values += blockIdx.x * IN_BLOCK + threadIdx.x;
  k[threadIdx.x + 0] = keys[0];
  v[threadIdx.x + 0] = values[0];
  k[threadIdx.x + (IN_BLOCK / 2)] = keys[(IN_BLOCK / 2)];
  v[threadIdx.x + (IN_BLOCK / 2)] = values[(IN_BLOCK / 2)];

  for (uint size = 2; size <= IN_BLOCK; size <<= 1) {
    const uint upwards = size == IN_BLOCK ? !(blockIdx.x & 1) : (threadIdx.x & (size / 2)) == 0;
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      cg::sync(cta);
      const uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      exchange(k[pos + 0], v[pos + 0], k[pos + stride], v[pos + stride], upwards);
    }
  }
  cg::sync(cta);
  keys[0] = k[threadIdx.x];
  values[0] = v[threadIdx.x];
  keys[(IN_BLOCK / 2)] = k[threadIdx.x + (IN_BLOCK / 2)];
  values[(IN_BLOCK / 2)] = v[threadIdx.x + (IN_BLOCK / 2)];
}

__global__ void mergeGlobal(uint *keys, uint *values, uint length, uint size, uint stride) {
  const uint i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint pair = i & (length / 2 - 1);
  const uint upwards = (pair & (size / 2)) == 0;
  const uint pos = 2 * i - (i & (stride - 1));
  uint keyA = keys[pos], valA = values[pos], keyB = keys[pos + stride], valB = values[pos + stride];
  exchange(keyA, valA, keyB, valB, upwards);
  keys[pos] = keyA;
  values[pos] = valA;
  keys[pos + stride] = keyB;
  values[pos + stride] = valB;
}
