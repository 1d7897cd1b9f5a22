// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <time.h>

// Queens on a board: the host places the first rows, and one thread continues from each of these boards, with a stack in shared memory.
#define THREAD_NUM 32
#define MAX_DEPTH 8

__global__ void solve_boards(int n, int depth, const unsigned int *__restrict__ total_masks, const unsigned int *__restrict__ left_masks,
                             const unsigned int *__restrict__ right_masks, unsigned int *results, int total)
{
  const int tid = threadIdx.x, bid = blockIdx.x, idx = bid * blockDim.x + tid;

  __shared__ unsigned int column[THREAD_NUM][MAX_DEPTH], left[THREAD_NUM][MAX_DEPTH], right[THREAD_NUM][MAX_DEPTH], open[THREAD_NUM][MAX_DEPTH];
  __shared__ unsigned int sum[THREAD_NUM];

  const unsigned int mask = (1 << n) - 1;
  unsigned int found = 0;
  if (idx < total) {
    int level = 0;
    column[tid][0] = total_masks[idx];
    left[tid][0] = left_masks[idx];
    right[tid][0] = right_masks[idx];
    open[tid][0] = mask & ~(column[tid][0] | left[tid][0] | right[tid][0]);

    while (level >= 0) {
      if (open[tid][level] == 0) {
        level--;
        continue;
      }
      const unsigned int queen = open[tid][level] & -open[tid][level];
      open[tid][level] ^= queen;
      if (level + 1 == depth) {
        found++;
        continue;
      }
      column[tid][level + 1] = column[tid][level] | queen;
      left[tid][level + 1] = (left[tid][level] | queen) << 1;
      right[tid][level + 1] = (right[tid][level] | queen) >> 1;
      level++;
      open[tid][level] = mask & ~(column[tid][level] | left[tid][level] | right[tid][level]);
    }
  }
  sum[tid] = found;
  __syncthreads();

  // unrolled by hand, with a barrier each
  if (tid < 16) { sum[tid] += sum[tid + 16]; } __syncthreads();
  if (tid < 8) { sum[tid] += sum[tid + 8]; } __syncthreads();
  if (tid < 4) { sum[tid] += sum[tid + 4]; } __syncthreads();
  if (tid < 2) { sum[tid] += sum[tid + 2]; } __syncthreads();
  if (tid < 1) { sum[tid] += sum[tid + 1]; } __syncthreads();
  if (tid == 0) results[bid] = sum[0];
}
