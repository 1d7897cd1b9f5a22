// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * A filter in two dimensions as two filters in one: along rows, then along columns. Halos are loaded with the tile; each
 * thread makes several results.
 */
#include <assert.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define RADIUS 8
#define LENGTH (2 * RADIUS + 1)

__constant__ float taps[LENGTH];

#define ROW_WIDTH 16
#define ROW_HEIGHT 4
#define ROW_RESULTS 4

__global__ void filterRows(float *to, float *from, int width, int height, int pitch) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float tile[ROW_HEIGHT][(ROW_RESULTS + 2) * ROW_WIDTH];
  assert(RADIUS <= ROW_WIDTH);

  // one column of blocks to the left of the results
  const int left = (blockIdx.x * ROW_RESULTS - 1) * ROW_WIDTH + threadIdx.x;
  const int y = blockIdx.y * ROW_HEIGHT + threadIdx.y;
  from += y * pitch + left;
  to += y * pitch + left;

#pragma unroll
  for (int i = 0; i < ROW_RESULTS + 2; i++) {
    const int x = left + i * ROW_WIDTH;
    tile[threadIdx.y][threadIdx.x + i * ROW_WIDTH] = (x >= 0 && x < width) ? from[i * ROW_WIDTH] : 0;
  }
  cg::sync(cta);
#pragma unroll
  for (int i = 1; i <= ROW_RESULTS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) sum += taps[RADIUS - j] * tile[threadIdx.y][threadIdx.x + i * ROW_WIDTH + j];
    to[i * ROW_WIDTH] = sum;
  }
}

#define COLUMN_WIDTH 16
#define COLUMN_HEIGHT 8
#define COLUMN_RESULTS 4

__global__ void filterColumns(float *to, float *from, int width, int height, int pitch) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float tile[COLUMN_WIDTH][(COLUMN_RESULTS + 2) * COLUMN_HEIGHT + 1];

  const int x = blockIdx.x * COLUMN_WIDTH + threadIdx.x;
  const int top = (blockIdx.y * COLUMN_RESULTS - 1) * COLUMN_HEIGHT + threadIdx.y;
  for (int i = 0; i < COLUMN_RESULTS + 2; i++) {
    const int y = top + i * COLUMN_HEIGHT;
    tile[threadIdx.x][threadIdx.y + i * COLUMN_HEIGHT] = (y >= 0 && y < height) ? from[y * pitch + x] : 0;
  }
  cg::sync(cta);
  for (int i = 1; i <= COLUMN_RESULTS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) sum += taps[RADIUS - j] * tile[threadIdx.x][threadIdx.y + i * COLUMN_HEIGHT + j];
    to[(top + i * COLUMN_HEIGHT) * pitch + x] = sum;
  }
}
