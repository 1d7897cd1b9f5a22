// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define AS_FOUR(p) (reinterpret_cast<float4 *>(&(p))[0])

// Loads and stores of 16 bytes; the tile of A is transposed on its way, so that its columns can be read like that as well.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm_vectorized(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  __shared__ float tileA[BK * BM];
  __shared__ float tileB[BK * BN];
  const uint t = threadIdx.x;
  const int left = t % (BN / TN) * TN, top = t / (BN / TN) * TM;
  const uint ax = t % (BK / 4) * 4, ay = t / (BK / 4), bx = t % (BN / 4) * 4, by = t / (BN / 4);

  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;

  float sums[TM * TN] = {0.0};
  float column[TM] = {0.0};
  float row[TN] = {0.0};
  for (uint k0 = 0; k0 < K; k0 += BK) {
    float4 four = AS_FOUR(A[ay * K + ax]);
    tileA[(ax + 0) * BM + ay] = four.x;
    tileA[(ax + 1) * BM + ay] = four.y;
    tileA[(ax + 2) * BM + ay] = four.z;
    tileA[(ax + 3) * BM + ay] = four.w;
    AS_FOUR(tileB[by * BN + bx]) = AS_FOUR(B[by * N + bx]);
    __syncthreads();
    A += BK;
    B += BK * N;

    for (uint k = 0; k < BK; ++k) {
      for (uint i = 0; i < TM; i += 4) AS_FOUR(column[i]) = AS_FOUR(tileA[k * BM + top + i]);
      for (uint j = 0; j < TN; j += 4) AS_FOUR(row[j]) = AS_FOUR(tileB[k * BN + left + j]);
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j) sums[i * TN + j] += column[i] * row[j];
    }
    __syncthreads();
  }

  for (uint i = 0; i < TM; ++i) {
    for (uint j = 0; j < TN; j += 4) {
      float4 c = AS_FOUR(C[(top + i) * N + left + j]);
      const float *sum = &sums[i * TN + j];
      c = make_float4(alpha * sum[0] + beta * c.x, alpha * sum[1] + beta * c.y, alpha * sum[2] + beta * c.z, alpha * sum[3] + beta * c.w);
      AS_FOUR(C[(top + i) * N + left + j]) = c;
    }
  }
}
