// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * A stencil in three dimensions. A block marches through the planes: what lies before and behind a thread is in registers,
 * what lies beside it in shared memory.
 */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define R 4
#define WIDTH 32
#define HEIGHT 8

__constant__ float weights[R + 1];

// the volume has R numbers more on each side
__global__ void march(float *output, const float *input, const int nx, const int ny, const int nz) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float plane[HEIGHT + 2 * R][WIDTH + 2 * R];
  const int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
  const int px = threadIdx.x + R, py = threadIdx.y + R;
  const int row = nx + 2 * R, layer = row * (ny + 2 * R);
  const bool reads = x < nx + R && y < ny + R, writes = x < nx && y < ny;
  int next = (y + R) * row + x + R;
  int here = next;

  float before[R], after[R], current = 0;
  for (int i = R - 1; i >= 0; i--, next += layer) before[i] = reads ? input[next] : 0;
  here = next;
  if (reads) current = input[next];
  next += layer;
  for (int i = 0; i < R; i++, next += layer) after[i] = reads ? input[next] : 0;

#pragma unroll 4
  for (int z = 0; z < nz; z++) {
    cg::sync(cta);
    if (threadIdx.y < R && x < nx) {
      plane[threadIdx.y][px] = input[here - R * row];
      if (y + HEIGHT < ny + R) plane[py + HEIGHT][px] = input[here + HEIGHT * row];
    }
    if (threadIdx.x < R && y < ny) {
      plane[py][threadIdx.x] = input[here - R];
      if (x + WIDTH < nx + R) plane[py][px + WIDTH] = input[here + WIDTH];
    }
    plane[py][px] = current;
    cg::sync(cta);

    float value = weights[0] * current;
#pragma unroll
    for (int i = 1; i <= R; i++)
      value += weights[i] * (before[i - 1] + after[i - 1] + plane[py - i][px] + plane[py + i][px] + plane[py][px - i] + plane[py][px + i]);
    if (writes) output[here] = value;

    for (int i = R - 1; i > 0; i--) before[i] = before[i - 1];
    before[0] = current;
    current = after[0];
    for (int i = 0; i < R - 1; i++) after[i] = after[i + 1];
    here += layer;
    if (z + 1 < nz && reads) after[R - 1] = input[next];
    next += layer;
  }
}
