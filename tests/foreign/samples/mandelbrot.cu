// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Mandelbrot and Julia sets: a template for the precision, colours as uchar4, several passes that are averaged, and blocks
 * that fetch their work by an atomic counter. Nothing keeps thread 0 from fetching the next tile while others still paint.
 */
#include <stdio.h>
#include "helper_math.h"

#define BLOCKDIM_X 16
#define BLOCKDIM_Y 16

__device__ unsigned int nextTile;

// How many steps are left when it escapes; 0: it does not.
template <class T>
__device__ inline int left_when_outside(T x, T y, const T cx, const T cy, int steps) {
  while (--steps) {
    const T xx = x * x, yy = y * y;
    if (xx + yy >= T(4.0)) break;
    y = T(2) * x * y + cy;
    x = xx - yy + cx;
  }
  return steps;
}

template <class T, bool julia>
__global__ void paint(uchar4 *image, const int width, const int height, const int steps, const T left, const T top, const T jx,
                      const T jy, const T pixel, const uchar4 colours, const int pass, const int tilesX, const int tiles) {
  __shared__ unsigned int tile;
  __shared__ unsigned int tileX, tileY;
  while (1) {
    // one thread asks for all
    if ((threadIdx.x == 0) && (threadIdx.y == 0)) {
      tile = atomicAdd(&nextTile, 1);
      tileX = tile % tilesX;
      tileY = tile / tilesX;
    }
    __syncthreads();
    if (tile >= tiles) break;

    const int ix = BLOCKDIM_X * tileX + threadIdx.x, iy = BLOCKDIM_Y * tileY + threadIdx.y;
    if ((ix < width) && (iy < height)) {
      const T x = left + (T)ix * pixel, y = top + (T)iy * pixel;
      const int rest = julia ? left_when_outside<T>(x, y, jx, jy, steps) : left_when_outside<T>(x, y, x, y, steps);
      uchar4 colour = make_uchar4(0, 0, 0, 255);
      if (rest > 0) {
        const int taken = steps - rest;
        colour.x = taken * colours.x;  // overflows are part of the picture
        colour.y = taken * colours.y;
        colour.z = taken * colours.z;
      }
      uchar4 &to = image[width * iy + ix];
      if (pass == 0) {
        to = colour;
      } else {
        to.x = (to.x * pass + colour.x + (pass + 1) / 2) / (pass + 1);
        to.y = (to.y * pass + colour.y + (pass + 1) / 2) / (pass + 1);
        to.z = (to.z * pass + colour.z + (pass + 1) / 2) / (pass + 1);
      }
    }
  }
}
