// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

template <const int SIDE>
__global__ void sgemm_shared(int M, int N, int K, float alpha, const float *__restrict__ A, const float *__restrict__ B,
                             float beta, float *__restrict__ C) {
  // the block's part of C
  const uint blockRow = blockIdx.x;
  const uint blockColumn = blockIdx.y;

  __shared__ float As[SIDE * SIDE];
  __shared__ float Bs[SIDE * SIDE];

  // the thread's place in it
  const uint column = threadIdx.x % SIDE;
  const uint row = threadIdx.x / SIDE;

  A += blockRow * SIDE * K;
  B += blockColumn * SIDE;
  C += blockRow * SIDE * N + blockColumn * SIDE;

  float sum = 0.0;
  for (int at = 0; at < K; at += SIDE) {
    As[row * SIDE + column] = A[row * K + column];
    Bs[row * SIDE + column] = B[row * N + column];
    __syncthreads();
    A += SIDE;
    B += SIDE * N;
    for (int k = 0; k < SIDE; ++k) sum += As[row * SIDE + k] * Bs[k * SIDE + column];
    __syncthreads();  // the fast ones wait, or the tile would change under the slow ones
  }
  C[row * N + column] = alpha * sum + beta * C[row * N + column];
}
