// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Prefix sums of many short arrays and of one long one: simple, in twice the memory; and by an up-sweep and a down-sweep,
 * where no addition is done in vain.
 */
#include <assert.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
typedef unsigned int uint;

#define THREADS 64

// One number of each thread, in groups of `length`, a power of two. The first half of each group's memory is 0.
inline __device__ uint inclusive(uint value, volatile uint *words, uint length, cg::thread_block cta) {
  const uint in_group = threadIdx.x & (length - 1);
  uint at = 2 * (threadIdx.x - in_group) + in_group;
  words[at] = 0;
  words[at += length] = value;
  for (uint reach = 1; reach < length; reach <<= 1) {
    cg::sync(cta);
    const uint sum = words[at] + words[at - reach];
    cg::sync(cta);
    words[at] = sum;
  }
  return words[at];
}

inline __device__ uint4 exclusive4(uint4 v, volatile uint *words, uint length, cg::thread_block cta) {
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  const uint before = inclusive(v.w, words, length / 4, cta) - v.w;
  return make_uint4(before, before + v.x, before + v.y, before + v.z);
}

__global__ void scanShort(uint4 *to, uint4 *from, uint length) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ uint words[2 * THREADS];
  const uint at = blockIdx.x * blockDim.x + threadIdx.x;
  to[at] = exclusive4(from[at], words, length, cta);
}

// Pads keep the strides of the tree in different banks.
#define LOG_BANKS 5
#define PADDED(i) ((i) + ((i) >> LOG_BANKS))

__global__ void scanTree(float *to, const float *from, int n) {
  extern __shared__ float tree[];
  const int t = threadIdx.x;
  tree[PADDED(t)] = from[t];
  tree[PADDED(t + n / 2)] = from[t + n / 2];

  int stride = 1;
  for (int nodes = n / 2; nodes > 0; nodes /= 2, stride *= 2) {
    __syncthreads();
    if (t < nodes) {
      const int right = stride * (2 * t + 2) - 1, left = right - stride;
      tree[PADDED(right)] += tree[PADDED(left)];
    }
  }
  if (t == 0) tree[PADDED(n - 1)] = 0.0f;
  for (int nodes = 1; nodes < n; nodes *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < nodes) {
      const int right = stride * (2 * t + 2) - 1, left = right - stride;
      const float sum = tree[PADDED(right)];
      tree[PADDED(right)] = sum + tree[PADDED(left)];
      tree[PADDED(left)] = sum;
    }
  }
  __syncthreads();
  to[t] = tree[PADDED(t)];
  to[t + n / 2] = tree[PADDED(t + n / 2)];
}
