// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Sizes as macros, which a script sets while it looks for the best ones.
#ifndef NUM_THREADS
#define NUM_THREADS 128
#endif
const int THREADS_OF_BLOCK = NUM_THREADS;

// While a tile is used, the next one is on its way through registers to the other half of the buffers.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__(THREADS_OF_BLOCK)
    sgemm_double_buffered(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  // sizes by constants of the kernel itself
  constexpr int WIDTH = BN / TN;
  constexpr int FOURS_A = BM * BK / 4 / THREADS_OF_BLOCK, FOURS_B = BK * BN / 4 / THREADS_OF_BLOCK;
  static_assert(WIDTH * (BM / TM) == THREADS_OF_BLOCK, "each thread has one part");
  static_assert(FOURS_A > 0 && FOURS_B > 0, "each thread loads something");
  __shared__ float tileA[2][BK * BM];
  __shared__ float tileB[2][BK * BN];
  const uint t = threadIdx.x, left = t % WIDTH * TN, top = t / WIDTH * TM;

  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + top) * N + blockIdx.x * BN + left;

  float4 nextA[FOURS_A], nextB[FOURS_B];
  float sums[TM * TN] = {0.0};
  float m[TM] = {0.0}, n[TN] = {0.0};

  for (uint k0 = 0, half = 0; k0 < K + BK; k0 += BK, half ^= 1) {
    if (k0 < K) {
      for (uint i = 0; i < FOURS_A; ++i) {
        const uint at = t + i * THREADS_OF_BLOCK;
        nextA[i] = reinterpret_cast<const float4 *>(&A[at / (BK / 4) * K + at % (BK / 4) * 4])[0];
      }
      for (uint i = 0; i < FOURS_B; ++i) {
        const uint at = t + i * THREADS_OF_BLOCK;
        nextB[i] = reinterpret_cast<const float4 *>(&B[at / (BN / 4) * N + at % (BN / 4) * 4])[0];
      }
      A += BK;
      B += BK * N;
    }
    if (k0 > 0) {
      for (uint k = 0; k < BK; ++k) {
        for (uint i = 0; i < TM; ++i) m[i] = tileA[half ^ 1][k * BM + top + i];
        for (uint j = 0; j < TN; ++j) n[j] = tileB[half ^ 1][k * BN + left + j];
        for (uint i = 0; i < TM; ++i)
          for (uint j = 0; j < TN; ++j) sums[i * TN + j] += m[i] * n[j];
      }
    }
    for (uint i = 0; i < FOURS_A; ++i) {
      const uint at = t + i * THREADS_OF_BLOCK, row = at / (BK / 4), col = at % (BK / 4) * 4;
      tileA[half][(col + 0) * BM + row] = nextA[i].x;
      tileA[half][(col + 1) * BM + row] = nextA[i].y;
      tileA[half][(col + 2) * BM + row] = nextA[i].z;
      tileA[half][(col + 3) * BM + row] = nextA[i].w;
    }
    for (uint i = 0; i < FOURS_B; ++i) reinterpret_cast<float4 *>(tileB[half])[t + i * THREADS_OF_BLOCK] = nextB[i];
    __syncthreads();
  }

  for (uint i = 0; i < TM; ++i)
    for (uint j = 0; j < TN; ++j) C[i * N + j] = alpha * sums[i * TN + j] + beta * C[i * N + j];
}
