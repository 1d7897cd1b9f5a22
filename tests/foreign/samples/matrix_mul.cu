// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * C = A B by square tiles, with the host code around it.
 */
// System includes
#include <stdio.h>
#include <assert.h>

// CUDA runtime
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>

template <int SIDE>
__global__ void multiplyTiles(float *C, float *A, float *B, int widthA, int widthB) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int firstA = SIDE * blockIdx.y * widthA, firstB = SIDE * blockIdx.x;
  float sum = 0;

  for (int a = firstA, b = firstB; a < firstA + widthA; a += SIDE, b += SIDE * widthB) {
    // declared in the loop
    __shared__ float tileA[SIDE][SIDE];
    __shared__ float tileB[SIDE][SIDE];
    tileA[y][x] = A[a + widthA * y + x];
    tileB[y][x] = B[b + widthB * y + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SIDE; ++k) {
      sum += tileA[y][k] * tileB[k][x];
    }
    __syncthreads();
  }
  C[firstB + (SIDE * blockIdx.y + y) * widthB + x] = sum;
}

void fill(float *data, int count, float value) {
  for (int i = 0; i < count; ++i) data[i] = value;
}

// Launches one of both instances, and counts operations.
double multiply(int side, const dim3 &sizeA, const dim3 &sizeB, float *A, float *B, float *C, cudaStream_t stream) {
  dim3 threads(side, side);
  dim3 grid(sizeB.x / threads.x, sizeA.y / threads.y);
  if (side == 16) {
    multiplyTiles<16><<<grid, threads, 0, stream>>>(C, A, B, sizeA.x, sizeB.x);
  } else {
    multiplyTiles<32><<<grid, threads, 0, stream>>>(C, A, B, sizeA.x, sizeB.x);
  }
  return 2.0 * static_cast<double>(sizeA.x) * static_cast<double>(sizeA.y) * static_cast<double>(sizeB.x);
}
