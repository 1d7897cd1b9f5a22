// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Histograms of bytes: 64 bins with a byte for each thread and bin, and 256 bins with counters for each warp.
 */
#include <assert.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

typedef unsigned int uint;
typedef unsigned char uchar;

#define BINS_64 64
#define BINS_256 256
#define THREADS_64 (64)
#define LOG2_WARP_SIZE 5U
#define WARPS 4
#define THREADS_256 (WARPS << LOG2_WARP_SIZE)
#define UMAD(a, b, c) ((a) * (b) + (c))

inline __device__ void countByte(uchar *mine, uint bin) { mine[bin * THREADS_64]++; }
inline __device__ void countWord(uchar *mine, uint word) {
  for (int shift = 2; shift < 32; shift += 8) countByte(mine, (word >> shift) & 0x3FU);
}

__global__ void histogram64(uint *bins, uint4 *data, uint count) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ uchar counters[THREADS_64 * BINS_64];
  uchar *mine = counters + threadIdx.x;

  // a word is four counters
#pragma unroll
  for (uint i = 0; i < BINS_64 / 4; i++) ((uint *)counters)[threadIdx.x + i * THREADS_64] = 0;
  cg::sync(cta);

  for (uint at = UMAD(blockIdx.x, blockDim.x, threadIdx.x); at < count; at += blockDim.x * gridDim.x) {
    const uint4 words = data[at];
    countWord(mine, words.x);
    countWord(mine, words.y);
    countWord(mine, words.z);
    countWord(mine, words.w);
  }
  cg::sync(cta);

  if (threadIdx.x < BINS_64) {
    const uchar *row = counters + threadIdx.x * THREADS_64;
    uint sum = 0;
    for (uint i = 0, at = threadIdx.x; i < THREADS_64; i++, at = (at + 1) % THREADS_64) sum += row[at];
    atomicAdd(bins + threadIdx.x, sum);
  }
}

__global__ void histogram256(uint *parts, uint *data, uint count) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ uint counters[WARPS * BINS_256];
  uint *ofWarp = counters + (threadIdx.x >> LOG2_WARP_SIZE) * BINS_256;
  for (uint i = threadIdx.x; i < WARPS * BINS_256; i += THREADS_256) counters[i] = 0;
  cg::sync(cta);

  for (uint at = UMAD(blockIdx.x, blockDim.x, threadIdx.x); at < count; at += blockDim.x * gridDim.x) {
    const uint word = data[at];
    atomicAdd(ofWarp + (word & 0xFFU), 1);
    atomicAdd(ofWarp + (word >> 8 & 0xFFU), 1);
    atomicAdd(ofWarp + (word >> 16 & 0xFFU), 1);
    atomicAdd(ofWarp + (word >> 24), 1);
  }
  cg::sync(cta);

  for (uint bin = threadIdx.x; bin < BINS_256; bin += THREADS_256) {
    uint sum = 0;
    for (uint w = 0; w < WARPS; w++) sum += counters[bin + w * BINS_256];
    parts[blockIdx.x * BINS_256 + bin] = sum;
  }
}

// a block for each bin
__global__ void mergeHistograms(uint *bins, uint *parts, uint count) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ uint sums[64];
  uint sum = 0;
  for (uint i = threadIdx.x; i < count; i += 64) sum += parts[blockIdx.x + i * BINS_256];
  sums[threadIdx.x] = sum;
  for (uint stride = 32; stride > 0; stride >>= 1) {
    cg::sync(cta);
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) bins[blockIdx.x] = sums[0];
}
