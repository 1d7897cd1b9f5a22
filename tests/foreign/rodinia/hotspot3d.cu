// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <cuda_runtime.h>

// Layers of a chip: a thread goes through all of them upwards, and keeps three in registers.
#define BLOCK_X 32
#define BLOCK_Y 4
#define tol      (0.001)
#define amb_temp (80.0)

__global__ void heat3D(float *power, float* in, float* out, float dt_cap,
                       int nx, int ny, int nz,
                       float ce, float cw,
                       float cn, float cs,
                       float ct, float cb,
                       float cc)
{
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  int j = blockDim.y * blockIdx.y + threadIdx.y;

  int c = i + j * nx;
  const int plane = nx * ny;

  int W = (i == 0)        ? c : c - 1;
  int E = (i == nx-1)     ? c : c + 1;
  int N = (j == 0)        ? c : c - nx;
  int S = (j == ny-1)     ? c : c + nx;

  float below, middle, above;
  below = middle = in[c];
  for (int k = 0; k < nz; ++k) {
    above = k + 1 < nz ? in[c + plane] : middle;
    out[c] = cc * middle + cn * in[N] + cs * in[S] + ce * in[E]
      + cw * in[W] + ct * above + cb * below + dt_cap * power[c] + ct * amb_temp;
    c += plane; W += plane; E += plane; N += plane; S += plane;
    below = middle;
    middle = above;
  }
}

// Host code
extern "C" void heat3D_gpu(float *power, float *tIn, float *tOut, int nx, int ny, int nz, float dt_cap,
                           float ce, float cw, float cn, float cs, float ct, float cb, float cc, int iterations)
{
  const size_t s = sizeof(float) * nx * ny * nz;
  float *tIn_d, *tOut_d, *p_d;
  cudaMalloc((void**)&p_d,s);
  cudaMalloc((void**)&tIn_d,s);
  cudaMalloc((void**)&tOut_d,s);
  cudaMemcpy(tIn_d, tIn, s, cudaMemcpyHostToDevice);
  cudaMemcpy(p_d, power, s, cudaMemcpyHostToDevice);
  cudaFuncSetCacheConfig(heat3D, cudaFuncCachePreferL1);

  dim3 block_dim(BLOCK_X, BLOCK_Y, 1);
  dim3 grid_dim(nx / BLOCK_X, ny / BLOCK_Y, 1);
  for (int i = 0; i < iterations; ++i) {
    heat3D<<<grid_dim, block_dim>>>(p_d, tIn_d, tOut_d, dt_cap, nx, ny, nz, ce, cw, cn, cs, ct, cb, cc);
    float *t = tIn_d;
    tIn_d = tOut_d;
    tOut_d = t;
  }
  cudaMemcpy(tOut, tIn_d, s, cudaMemcpyDeviceToHost);
  cudaFree(p_d);
  cudaFree(tIn_d);
  cudaFree(tOut_d);
}
