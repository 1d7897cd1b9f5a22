// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Softmax of rows, one block each, in one pass over the row: maximum and sum are kept together and merged by a tree.
#include <math_constants.h>

struct running {
  float maximum, sum;
};

__device__ running merged(running a, running b) {
  running r;
  r.maximum = fmaxf(a.maximum, b.maximum);
  r.sum = r.maximum == -CUDART_INF_F ? 0.0f : a.sum * expf(a.maximum - r.maximum) + b.sum * expf(b.maximum - r.maximum);
  return r;
}

template <int Threads>
__global__ void __launch_bounds__(Threads) softmax(const float* __restrict__ in, float* __restrict__ out, int columns) {
  __shared__ running shared[Threads];
  const float* row = in + (size_t)blockIdx.x * columns;
  float* result = out + (size_t)blockIdx.x * columns;
  running mine = {-CUDART_INF_F, 0.0f};
  for (int c = threadIdx.x; c < columns; c += Threads) {
    running one = {row[c], 1.0f};
    mine = merged(mine, one);
  }
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int s = Threads / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) shared[threadIdx.x] = merged(shared[threadIdx.x], shared[threadIdx.x + s]);
    __syncthreads();
  }
  const running all = shared[0];
  for (int c = threadIdx.x; c < columns; c += Threads) result[c] = expf(row[c] - all.maximum) / all.sum;
}
