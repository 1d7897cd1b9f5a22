// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A one-dimensional convolution whose coefficients are in constant memory, with a halo in dynamic shared memory.
#define RADIUS 4

__constant__ float coefficients[2 * RADIUS + 1];
__device__ unsigned int blocks_done;

extern __shared__ float window[];

__device__ float weighted(int centre) {
  float sum = 0.0f;
#pragma unroll
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += coefficients[k + RADIUS] * window[centre + k];
  return sum;
}

__global__ void convolve(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = threadIdx.x + RADIUS;
  window[at] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < RADIUS) {
    const int left = i - RADIUS, right = i + blockDim.x;
    window[at - RADIUS] = left >= 0 && left < n ? in[left] : 0.0f;
    window[at + blockDim.x] = right < n ? in[right] : 0.0f;
  }
  __syncthreads();
  if (i < n) out[i] = weighted(at);
  if (threadIdx.x == 0) atomicInc(&blocks_done, 0xffffffffu);
}
