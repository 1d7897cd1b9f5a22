// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Cosine transform of blocks of 8 x 8 pixels, there and back, and the quantisation of JPEG on the way.
 */
#pragma once
#include <math.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define SIDE 8
#define PIXELS 64
#define IMUL(a, b) __mul24(a, b)
#define FMUL(x, y) ((x) * (y))

// row: frequency; column: place
__constant__ float waves[PIXELS];
// how coarse each of them is
__constant__ short steps[PIXELS] = {
    10, 11, 12, 14, 20, 30, 40, 50, 11, 12, 14, 18, 25, 40, 50, 55, 12, 14, 18, 25, 40, 50, 60, 55, 14, 18, 25, 30, 50, 70, 65, 60,
    20, 25, 40, 50, 60, 90, 85, 70, 30, 40, 50, 60, 80, 95, 90, 80, 40, 50, 60, 70, 90, 99, 95, 90, 50, 55, 60, 65, 80, 90, 95, 99};

__shared__ float pixels[PIXELS];
__shared__ float halfway[PIXELS];

template <bool Forward>
__device__ void transform(cg::thread_block &cta) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    const float f = Forward ? waves[IMUL(ty, SIDE) + i] : waves[IMUL(i, SIDE) + ty];
    sum += FMUL(f, pixels[(i << 3) + tx]);
  }
  halfway[(ty << 3) + tx] = sum;
  cg::sync(cta);
  sum = 0;
  for (int i = 0; i < SIDE; i++) {
    const float f = Forward ? waves[(tx << 3) + i] : waves[(i << 3) + tx];
    sum += halfway[(ty << 3) + i] * f;
  }
  cg::sync(cta);
  pixels[(ty << 3) + tx] = sum;
  cg::sync(cta);
}

__global__ void forwardDCT(float *to, float *from, int width) {
  cg::thread_block cta = cg::this_thread_block();
  const int at = ((blockIdx.y << 3) + threadIdx.y) * width + (blockIdx.x << 3) + threadIdx.x;
  pixels[(threadIdx.y << 3) + threadIdx.x] = from[at] - 128.0f;
  cg::sync(cta);
  transform<true>(cta);
  to[at] = pixels[(threadIdx.y << 3) + threadIdx.x];
}

__global__ void inverseDCT(float *to, float *from, int width) {
  cg::thread_block cta = cg::this_thread_block();
  const int at = ((blockIdx.y << 3) + threadIdx.y) * width + (blockIdx.x << 3) + threadIdx.x;
  pixels[(threadIdx.y << 3) + threadIdx.x] = from[at];
  cg::sync(cta);
  transform<false>(cta);
  to[at] = pixels[(threadIdx.y << 3) + threadIdx.x] + 128.0f;
}

// to the nearest step, away from 0 in the middle, in short arithmetic
__global__ void quantise(short *coefficients, int stride) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  short *at = coefficients + (blockIdx.y * SIDE + ty) * stride + blockIdx.x * SIDE + tx;
  const short step = steps[ty * SIDE + tx];
  short value = *at;
  const bool negative = value < 0;
  if (negative) value = -value;
  value += step >> 1;
  value /= step;
  *at = (negative ? -value : value) * step;
}
