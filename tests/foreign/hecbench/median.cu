// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cuda.h>

// Median of 3 x 3 and an unsharp mask, of pixels in words; rows of a block and their neighbors in shared memory.
typedef unsigned int uint;
#define TILE_X 16
#define TILE_Y 4
#define EXCHANGE(a, b) { const uint low = min(a, b); b = max(a, b); a = low; }
#define IMUL(a, b) __mul24(a, b)

static __device__ __forceinline__ uint clamped(const uint *image, int x, int y, int w, int h)
{
  return image[IMUL(min(max(y, 0), h - 1), w) + min(max(x, 0), w - 1)];
}

static __device__ uint middle_of(uint (&v)[9])
{
  for (int pass = 0; pass < 5; pass++)
    for (int i = 8; i > pass; i--) EXCHANGE(v[i - 1], v[i]);
  return v[4];
}

__global__ void sharpen(const uint *__restrict__ source, uint *__restrict__ medians, uint *__restrict__ sharp, const int w, const int h, const float amount)
{
  extern __shared__ uint tile[];   // (TILE_X + 2) x (TILE_Y + 2)
  const int pitch = TILE_X + 2;
  const int x = IMUL(blockIdx.x, TILE_X) + threadIdx.x, y = IMUL(blockIdx.y, TILE_Y) + threadIdx.y;

  for (int i = threadIdx.y * TILE_X + threadIdx.x; i < pitch * (TILE_Y + 2); i += TILE_X * TILE_Y)
    tile[i] = clamped(source, blockIdx.x * TILE_X + i % pitch - 1, blockIdx.y * TILE_Y + i / pitch - 1, w, h);
  __syncthreads();
  if (x >= w || y >= h) return;

  uint median = 0, result = 0;
  for (int channel = 0; channel < 4; channel++) {
    uint near[9];
    float blurred = 0;
    for (int i = 0; i < 9; i++) {
      near[i] = (tile[(threadIdx.y + i / 3) * pitch + threadIdx.x + i % 3] >> (8 * channel)) & 0xff;
      blurred += near[i] * ((i % 2 ? 2.f : i == 4 ? 4.f : 1.f) / 16.f);
    }
    const float here = near[4];
    const int value = (int) rintf(here + amount * (here - blurred));
    result |= (uint) min(max(value, 0), 255) << (8 * channel);
    median |= middle_of(near) << (8 * channel);
  }
  medians[y * w + x] = median;
  sharp[y * w + x] = result;
}
