// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cuda.h>

// Tests whether cases and controls differ, for each of many markers, from tables of counts of bytes '0', '1', '2'.
#define CELLS 6

__device__ static float square_over(float seen, float expected) { return (seen - expected) * (seen - expected) / expected; }

__global__ void chi_squared (
    const unsigned int rows,
    const unsigned int cols,
    const int cases,
    const int controls,
    const unsigned char *__restrict__ snpdata,
    float *__restrict__ results)
{
  __shared__ int counts[2][CELLS / 2];
  const unsigned char *marker = snpdata + blockIdx.x;

  if (threadIdx.x < CELLS) counts[threadIdx.x / 3][threadIdx.x % 3] = 0;
  __syncthreads();
  for (unsigned int r = threadIdx.x; r < rows; r += blockDim.x) {
    const int of = marker[r * cols] - '0';
    if (of >= 0 && of <= 2) atomicAdd(&counts[r < cases ? 0 : 1][of], 1);
  }
  __syncthreads();

  if (threadIdx.x == 0) {
    int in_row[2] = {0}, of_kind[3] = {0}, all = 0;
    for (int i = 0; i < CELLS; i++) {
      in_row[i / 3] += counts[i / 3][i % 3];
      of_kind[i % 3] += counts[i / 3][i % 3];
      all += counts[i / 3][i % 3];
    }
    float chi = 0.0;
    for (int i = 0; i < CELLS; i++)
      if (of_kind[i % 3] > 0)
        chi += square_over(counts[i / 3][i % 3], (float) in_row[i / 3] * of_kind[i % 3] / all);
    results[blockIdx.x] = chi;
  }
}
