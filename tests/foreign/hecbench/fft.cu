// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <cuda.h>
#include <cmath>
#include <cstdio>

// A transform of 512 elements by 64 threads: three steps on eight elements in each thread's registers, with exchanges between.
#ifdef SINGLE_PRECISION
#define T float
#define T2 float2
#define make_T2 make_float2
#else
#define T double
#define T2 double2
#define make_T2 make_double2
#endif

#ifndef M_SQRT1_2
#define M_SQRT1_2 0.70710678118654752440
#endif

__device__ inline T2 operator*(T2 a, T2 b) { return make_T2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ inline T2 operator+(T2 a, T2 b) { return make_T2(a.x + b.x, a.y + b.y); }
__device__ inline T2 operator-(T2 a, T2 b) { return make_T2(a.x - b.x, a.y - b.y); }

#define exp_1_8   make_T2(1, -1)   // times M_SQRT1_2
#define exp_1_4   make_T2(0, -1)
#define exp_3_8   make_T2(-1, -1)  // times M_SQRT1_2

#define PAIR(a, b) { const T2 t = a; a = t + b; b = t - b; }

__device__ inline void four(T2 &a0, T2 &a1, T2 &a2, T2 &a3)
{
  PAIR(a0, a2);
  PAIR(a1, a3);
  a3 = a3 * exp_1_4;
  PAIR(a0, a1);
  PAIR(a2, a3);
}

// results in reversed order of bits: a[1] is the fourth
__device__ inline void eight(T2 *a)
{
#pragma unroll
  for (int i = 0; i < 4; i++) PAIR(a[i], a[i + 4]);
  a[5] = a[5] * exp_1_8 * make_T2(M_SQRT1_2, 0);
  a[6] = a[6] * exp_1_4;
  a[7] = a[7] * exp_3_8 * make_T2(M_SQRT1_2, 0);
  four(a[0], a[1], a[2], a[3]);
  four(a[4], a[5], a[6], a[7]);
}

__device__ inline int reversed(int i) { return (i & 1) << 2 | (i & 2) | (i & 4) >> 2; }

__device__ inline void twiddle(T2 *a, int i, int n)
{
#pragma unroll
  for (int j = 1; j < 8; j++) {
    T s, c;
    sincospi(-2 * (T)(reversed(j) * i) / n, &s, &c);
    a[j] = a[j] * make_T2(c, s);
  }
}

__device__ void exchange(T2 *a, T *smem, int to, int to_stride, int from, int from_stride)
{
  for (int part = 0; part < 2; part++) {
    __syncthreads();
    for (int j = 0; j < 8; j++) smem[to + reversed(j) * to_stride] = part ? a[j].y : a[j].x;
    __syncthreads();
    for (int j = 0; j < 8; j++) (part ? a[j].y : a[j].x) = smem[from + j * from_stride];
  }
}

__global__ void fft512(T2 *__restrict__ work)
{
  __shared__ T smem[8 * 64 + 64];
  const int tid = threadIdx.x, hi = tid >> 3, lo = tid & 7;

  work += blockIdx.x * 512 + tid;
  T2 data[8];
  for (int i = 0; i < 8; i++) data[i] = work[i * 64];

  eight(data);
  twiddle(data, tid, 512);
  exchange(data, smem, tid, 64, hi * 64 + lo, 8);
  eight(data);
  twiddle(data, lo, 64);
  exchange(data, smem, hi * 64 + lo, 8, hi * 64 + lo * 8, 1);
  eight(data);

#pragma unroll
  for (int i = 0; i < 8; i++) work[(hi + lo * 8 + reversed(i) * 64) - tid] = data[i];
}
