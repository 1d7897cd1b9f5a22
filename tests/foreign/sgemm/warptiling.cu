// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int WARPSIZE = 32; // warpSize cannot size an array

// 16 bytes at a time, the tile of A transposed
template <const int BM, const int BN, const int BK, const int THREADS>
__device__ void fetch(int N, int K, const float *A, const float *B, float *tileA, float *tileB) {
  for (uint i = threadIdx.x; i < BM * BK / 4; i += THREADS) {
    const uint row = i / (BK / 4), col = i % (BK / 4) * 4;
    const float4 four = reinterpret_cast<const float4 *>(&A[row * K + col])[0];
    tileA[(col + 0) * BM + row] = four.x;
    tileA[(col + 1) * BM + row] = four.y;
    tileA[(col + 2) * BM + row] = four.z;
    tileA[(col + 3) * BM + row] = four.w;
  }
  for (uint i = threadIdx.x; i < BK * BN / 4; i += THREADS) {
    reinterpret_cast<float4 *>(tileB)[i] = reinterpret_cast<const float4 *>(&B[i / (BN / 4) * N])[i % (BN / 4)];
  }
}

// A block makes BM x BN numbers, a warp WM x WN of them in STEPS steps of WM / STEPS rows, a thread TM x TN in each step.
template <const int BM, const int BN, const int BK, const int WM, const int WN, const int STEPS, const int TM, const int TN>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * WARPSIZE)
    sgemm_warptiling(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  constexpr uint THREADS = BM / WM * (BN / WN) * WARPSIZE;
  constexpr uint ROWS = WM / STEPS; // of a warp in a step
  constexpr uint ACROSS = WN / TN;  // threads side by side
  static_assert(ROWS / TM * ACROSS == WARPSIZE, "each lane has one part of a step");
  const uint warp = threadIdx.x / WARPSIZE, lane = threadIdx.x % WARPSIZE;
  const uint firstRow = warp / (BN / WN) * WM + lane / ACROSS * TM;
  const uint firstCol = warp % (BN / WN) * WN + lane % ACROSS * TN;

  __shared__ float tileA[BM * BK];
  __shared__ float tileB[BK * BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;

  float sums[STEPS * TM * TN] = {0.0};
  float m[STEPS * TM] = {0.0};
  float n[TN] = {0.0};
  for (uint k0 = 0; k0 < K; k0 += BK, A += BK, B += BK * N) {
    fetch<BM, BN, BK, THREADS>(N, K, A, B, tileA, tileB);
    __syncthreads();
    for (uint k = 0; k < BK; ++k) {
      for (uint s = 0; s < STEPS; ++s)
        for (uint i = 0; i < TM; ++i) m[s * TM + i] = tileA[k * BM + firstRow + s * ROWS + i];
      for (uint j = 0; j < TN; ++j) n[j] = tileB[k * BN + firstCol + j];
      for (uint i = 0; i < STEPS * TM; ++i)
        for (uint j = 0; j < TN; ++j) sums[i * TN + j] += m[i] * n[j];
    }
    __syncthreads();
  }

  for (uint s = 0; s < STEPS; ++s) {
    for (uint i = 0; i < TM; ++i) {
      for (uint j = 0; j < TN; j += 4) {
        float *to = C + (firstRow + s * ROWS + i) * N + firstCol + j;
        const float *sum = sums + (s * TM + i) * TN + j;
        float4 c = reinterpret_cast<float4 *>(to)[0];
        c.x = alpha * sum[0] + beta * c.x;
        c.y = alpha * sum[1] + beta * c.y;
        c.z = alpha * sum[2] + beta * c.z;
        c.w = alpha * sum[3] + beta * c.w;
        reinterpret_cast<float4 *>(to)[0] = c;
      }
    }
  }
}
