// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How a matrix is copied and transposed through tiles in shared memory.
#include <cooperative_groups.h>
#include <stdio.h>

namespace cg = cooperative_groups;

#define TILE 16
#define ROWS 8  // a block has TILE x ROWS threads, of which each does TILE / ROWS elements

// Host side settings: a whole number of tiles.
int matrixWidth = 1024;
int matrixHeight = 1024;
#define ROUND_DOWN(a, b) (a - (a % b))

__global__ void copyThroughTile(float *to, float *from, int width, int height) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;

  for (int r = 0; r < TILE; r += ROWS)
    if (x < width && y + r < height) tile[threadIdx.y + r][threadIdx.x] = from[(y + r) * width + x];
  cg::sync(cta);
  for (int r = 0; r < TILE; r += ROWS)
    if (x < width && y + r < height) to[(y + r) * width + x] = tile[threadIdx.y + r][threadIdx.x];
}

// The stores are far apart.
__global__ void transposeSimple(float *to, float *from, int width, int height) {
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int r = 0; r < TILE; r += ROWS) to[x * height + y + r] = from[(y + r) * width + x];
}

// A column more, so that the columns of a tile lie in different banks.
__global__ void transposePadded(float *to, float *from, int width, int height) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int r = 0; r < TILE; r += ROWS) tile[threadIdx.y + r][threadIdx.x] = from[(y + r) * width + x];
  cg::sync(cta);
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int r = 0; r < TILE; r += ROWS) to[(y + r) * height + x] = tile[threadIdx.x][threadIdx.y + r];
}

// Blocks in diagonal order, against partition camping.
__global__ void transposeDiagonally(float *to, float *from, int width, int height) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float tile[TILE][TILE + 1];
  int column, row;
  if (width != height) {
    int block = gridDim.x * blockIdx.y + blockIdx.x;
    row = block % gridDim.y;
    column = (row + block / gridDim.y) % gridDim.x;
  } else {
    row = blockIdx.x;
    column = (blockIdx.y + blockIdx.x) % gridDim.x;
  }
  from += (row * TILE + threadIdx.y) * width + column * TILE + threadIdx.x;
  to += (column * TILE + threadIdx.y) * height + row * TILE + threadIdx.x;
  for (int r = 0; r < TILE; r += ROWS) tile[threadIdx.y + r][threadIdx.x] = from[r * width];
  cg::sync(cta);
  for (int r = 0; r < TILE; r += ROWS) to[r * height] = tile[threadIdx.x][threadIdx.y + r];
}
