// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <stdio.h>
#include <math.h>
#include <cuda_runtime.h>

// Noise in octaves, from a table of gradients that each block has in shared memory.
#define FADE(t) ((t) * (t) * (t) * ((t) * ((t) * 6.f - 15.f) + 10.f))
#define TABLE 256

namespace noise {

__device__ inline float lerp(float a, float b, float t) { return a + t * (b - a); }
__device__ inline float grad(const unsigned char hash, float x, float y)
{
  const float u = hash & 1 ? x : -x, v = hash & 2 ? y : -y;
  return (hash & 4) ? u + 2.f * v : v + 2.f * u;
}

__device__ float at(const unsigned char *perm, float x, float y)
{
  const int ix = floorf(x), iy = floorf(y);
  x -= ix;
  y -= iy;
  float corner[2][2];
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 2; i++)
      corner[j][i] = grad(perm[(perm[(ix + i) & (TABLE - 1)] + iy + j) & (TABLE - 1)], x - i, y - j);
  return lerp(lerp(corner[0][0], corner[0][1], FADE(x)), lerp(corner[1][0], corner[1][1], FADE(x)), FADE(y));
}

}

__global__ __launch_bounds__(256)
void perlin_image(uchar4 *image, const unsigned char *__restrict__ permutation, int width, int height, float scale, int octaves, float2 shift)
{
  __shared__ static unsigned char perm[TABLE];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < TABLE; i += blockDim.x * blockDim.y) perm[i] = permutation[i];
  __syncthreads();

  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;

  float sum = 0.f, part = 1.f, frequency = scale;
#pragma unroll 2
  for (int o = 0; o < octaves; ++o, part *= .5f, frequency *= 2.f)
    sum += part * noise::at(perm, x * frequency + shift.x, y * frequency + shift.y);

  const unsigned char grey = (unsigned char) fminf(fmaxf(128.f + 48.f * sum, 0.f), 255.f);
  image[y * width + x] = make_uchar4(grey, grey, 255 - grey, 255);
}
