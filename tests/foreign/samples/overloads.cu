// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels and functions of the same name, for different types.
 */
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#define THREAD_N 256

__device__ __forceinline__ int twice(int a) { return a + a; }
__device__ __forceinline__ float twice(float a) { return a * 2.0f; }
__device__ __forceinline__ int2 twice(int2 a) { return make_int2(twice(a.x), twice(a.y)); }

__global__ void simple_kernel(const int *pIn, int *pOut, int a) {
  __shared__ int sData[THREAD_N];
  int tid = threadIdx.x + blockDim.x * blockIdx.x;
  sData[threadIdx.x] = pIn[tid];
  __syncthreads();
  pOut[tid] = sData[threadIdx.x] * a + tid;
}

__global__ void simple_kernel(const int2 *pIn, int *pOut, int a) {
  __shared__ int2 sData[THREAD_N];
  int tid = threadIdx.x + blockDim.x * blockIdx.x;
  sData[threadIdx.x] = pIn[tid];
  __syncthreads();
  pOut[tid] = (sData[threadIdx.x].x + sData[threadIdx.x].y) * a + tid;
}

__global__ void simple_kernel(const int *pIn1, const int *pIn2, int *pOut, int a) {
  __shared__ int sData1[THREAD_N];
  __shared__ int sData2[THREAD_N];
  int tid = threadIdx.x + blockDim.x * blockIdx.x;
  sData1[threadIdx.x] = pIn1[tid];
  sData2[threadIdx.x] = pIn2[tid];
  __syncthreads();
  pOut[tid] = (sData1[threadIdx.x] + sData2[threadIdx.x]) * a + tid;
}

// one of a kind, which calls overloaded functions
__global__ void doubled(int2 *pairs, float *numbers) {
  int tid = threadIdx.x + blockDim.x * blockIdx.x;
  pairs[tid] = twice(pairs[tid]);
  numbers[tid] = twice(numbers[tid]);
}
