// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Each thread makes TM numbers below each other: of B it reads one for all of them.
template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm_1d_blocktiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  assert(BM * BK == blockDim.x && BN * BK == blockDim.x);
  __shared__ float tileA[BM][BK];
  __shared__ float tileB[BK][BN];
  const int column = threadIdx.x % BN, row = threadIdx.x / BN * TM;
  A += blockIdx.y * BM * K + threadIdx.x / BK * K + threadIdx.x % BK;
  B += blockIdx.x * BN + threadIdx.x / BN * N + column;
  C += (blockIdx.y * BM + row) * N + blockIdx.x * BN + column;

  float sums[TM] = {0.0};
  for (uint k0 = 0; k0 < K; k0 += BK) {
    tileA[threadIdx.x / BK][threadIdx.x % BK] = *A;
    tileB[threadIdx.x / BN][column] = *B;
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint k = 0; k < BK; ++k) {
      float b = tileB[k][column];
      for (uint i = 0; i < TM; ++i) {
        sums[i] += tileA[row + i][k] * b;
      }
    }
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i, C += N) {
    *C = alpha * sums[i] + beta * *C;
  }
}
