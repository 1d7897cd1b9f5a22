// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// C = alpha A B + beta C, row by row. A block makes BM x BN of C from slices that
// are BK deep, each of its threads TM x TN.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm_2d_blocktiling(int M, int N, int K, float alpha, const float *A,
                         const float *B, float beta, float *C) {
  const uint threads = BM * BN / (TM * TN);
  assert(threads == blockDim.x);

  // where this thread's part of the result is
  const int tx = threadIdx.x % (BN / TN);
  const int ty = threadIdx.x / (BN / TN);

  __shared__ float sliceA[BM * BK];
  __shared__ float sliceB[BK * BN];

  // from here on, the pointers are those of the block
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;

  const uint rowA = threadIdx.x / BK, colA = threadIdx.x % BK;
  const uint rowB = threadIdx.x / BN, colB = threadIdx.x % BN;
  const uint rowsOfA = threads / BK, rowsOfB = threads / BN;

  float sums[TM * TN] = {0.0};
  float m[TM] = {0.0};
  float n[TN] = {0.0};

  for (uint k0 = 0; k0 < K; k0 += BK) {
    for (uint r = 0; r < BM; r += rowsOfA)
      sliceA[(rowA + r) * BK + colA] = A[(rowA + r) * K + colA];
    for (uint r = 0; r < BK; r += rowsOfB)
      sliceB[(rowB + r) * BN + colB] = B[(rowB + r) * N + colB];
    __syncthreads();

    A += BK;
    B += BK * N;

    for (uint k = 0; k < BK; ++k) {
      for (uint i = 0; i < TM; ++i) m[i] = sliceA[(ty * TM + i) * BK + k];
      for (uint j = 0; j < TN; ++j) n[j] = sliceB[k * BN + tx * TN + j];
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j)
          sums[i * TN + j] += m[i] * n[j];
    }
    __syncthreads();
  }

  for (uint i = 0; i < TM; ++i) {
    for (uint j = 0; j < TN; ++j) {
      float &c = C[(ty * TM + i) * N + tx * TN + j];
      c = alpha * sums[i * TN + j] + beta * c;
    }
  }
}
