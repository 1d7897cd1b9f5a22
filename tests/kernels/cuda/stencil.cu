// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A five-point stencil on a tile with a halo. Threads outside of the picture return before the barrier.
constexpr int tile = 16;

namespace heat {

__device__ inline float at(const float* u, int x, int y, int width, int height) {
  x = min(max(x, 0), width - 1);
  y = min(max(y, 0), height - 1);
  return u[y * width + x];
}

__global__ void step(const float* __restrict__ u, float* __restrict__ v, int width, int height, float rate) {
  __shared__ float part[tile + 2][tile + 2];
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  if (x >= width || y >= height) return;

  part[ly][lx] = u[y * width + x];
  if (threadIdx.x == 0) part[ly][0] = at(u, x - 1, y, width, height);
  if (threadIdx.x == tile - 1 || x == width - 1) part[ly][lx + 1] = at(u, x + 1, y, width, height);
  if (threadIdx.y == 0) part[0][lx] = at(u, x, y - 1, width, height);
  if (threadIdx.y == tile - 1 || y == height - 1) part[ly + 1][lx] = at(u, x, y + 1, width, height);
  __syncthreads();

  const float centre = part[ly][lx];
  v[y * width + x] =
      centre + rate * (part[ly][lx - 1] + part[ly][lx + 1] + part[ly - 1][lx] + part[ly + 1][lx] - 4.0f * centre);
}

}  // namespace heat
