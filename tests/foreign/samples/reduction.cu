// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of an array, one for each block: a ladder from the naive kernel to the tuned one.
 */
#ifndef REDUCTION_KERNEL_CU
#define REDUCTION_KERNEL_CU

#include <stdio.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Dynamic shared memory under one name cannot have two types: a template for each of them.
template <class T>
struct DynamicShared {
  __device__ inline operator T *() {
    extern __shared__ int raw_words[];
    return (T *)raw_words;
  }
  __device__ inline operator const T *() const {
    extern __shared__ int raw_words[];
    return (T *)raw_words;
  }
};
template <>
struct DynamicShared<double> {
  __device__ inline operator double *() {
    extern __shared__ double raw_doubles[];
    return (double *)raw_doubles;
  }
};

/* Step 0: a remainder chooses who adds. */
template <class T>
__global__ void sum_modulo(T *in, T *out, unsigned int n) {
  cg::thread_block cta = cg::this_thread_block();
  T *part = DynamicShared<T>();
  const unsigned int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;

  part[t] = (i < n) ? in[i] : 0;
  cg::sync(cta);
  for (unsigned int step = 1; step < blockDim.x; step *= 2) {
    if (t % (step << 1) == 0) part[t] += part[t + step];
    cg::sync(cta);
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

/* Step 1: neighbouring threads add, far apart. */
template <class T>
__global__ void sum_strided(T *in, T *out, unsigned int n) {
  cg::thread_block cta = cg::this_thread_block();
  T *part = DynamicShared<T>();
  const unsigned int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;

  part[t] = (i < n) ? in[i] : 0;
  cta.sync();
  for (unsigned int step = 1; step < blockDim.x; step <<= 1) {
    int k = 2 * step * t;
    if (k < blockDim.x) part[k] += part[k + step];
    cta.sync();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

/* Step 2: no conflicts, and the first addition is done while loading. */
template <class T>
__global__ void sum_while_loading(T *in, T *out, unsigned int n) {
  T *part = DynamicShared<T>();
  const unsigned int t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;

  T mine = (i < n) ? in[i] : 0;
  if (i + blockDim.x < n) mine += in[i + blockDim.x];
  part[t] = mine;
  __syncthreads();
  for (unsigned int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step) part[t] = mine = mine + part[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine;
}

/* Step 3: many elements for each thread, everything unrolled, shuffles in the last warp. */
template <class T, unsigned int threads, bool powerOfTwo>
__global__ void sum_unrolled(T *in, T *out, unsigned int n) {
  cg::thread_block cta = cg::this_thread_block();
  T *part = DynamicShared<T>();
  const unsigned int t = threadIdx.x;
  T mine = 0;

  if (powerOfTwo) {
    for (unsigned int i = blockIdx.x * threads * 2 + t; i < n; i += gridDim.x * threads * 2) {
      mine += in[i];
      if (i + threads < n) mine += in[i + threads];
    }
  } else {
    for (unsigned int i = blockIdx.x * threads + t; i < n; i += gridDim.x * threads) mine += in[i];
  }
  part[t] = mine;
  cg::sync(cta);

#define FOLD(size)                                                        \
  if ((threads >= size) && (t < size / 2)) part[t] = mine = mine + part[t + size / 2]; \
  cg::sync(cta);
  FOLD(512)
  FOLD(256)
  FOLD(128)
#undef FOLD

  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cta);
  if (cta.thread_rank() < 32) {
    if (threads >= 64) mine += part[t + 32];
    for (int o = warp.size() / 2; o > 0; o /= 2) mine += warp.shfl_down(mine, o);
  }
  if (cta.thread_rank() == 0) out[blockIdx.x] = mine;
}

#endif  // REDUCTION_KERNEL_CU
