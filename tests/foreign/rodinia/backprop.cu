// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Back propagation: what a hidden layer gets from each slice of 16 inputs, and new weights. Row 0 and column 0 are the bias.
 */
#ifndef _BACKPROP_KERNELS_H_
#define _BACKPROP_KERNELS_H_

#include <stdio.h>
#include <math.h>
#include "network.h"
#include "cuda.h"

__global__ void
layer_forward(float *units,
              float *weights,
              float *partial,
              int hidden)
{
   int row = threadIdx.y;
   int col = threadIdx.x;
   int unit = blockIdx.y * SIDE + row + 1;

   __shared__ float unit_of_row[SIDE];
   __shared__ float products[SIDE][SIDE];

   if ( col == 0 )
      unit_of_row[row] = units[unit];
   __syncthreads();

   products[row][col] = weights[unit * (hidden + 1) + col + 1] * unit_of_row[row];
   __syncthreads();

   for ( int level = 1 ; level <= __log2f(SIDE) ; level++ ) {
      int stride = __powf(2, level);
      if ( row % stride == 0 )
         products[row][col] += products[row + stride / 2][col];
      __syncthreads();
   }

   if ( row == 0 ) partial[blockIdx.y * hidden + col] = products[0][col];
}

__global__ void
adjust_weights(float * delta, float * units, float * weights, float * old_change, int hidden)
{
   int unit = blockIdx.y * SIDE + threadIdx.y + 1;
   int at = unit * (hidden + 1) + threadIdx.x + 1;
   int to = threadIdx.x + 1;

   old_change[at] = ((RATE * delta[to] * units[unit]) + (MOMENTUM * old_change[at]));
   weights[at] += old_change[at];

   __syncthreads();

   if (threadIdx.y == 0 && blockIdx.y == 0) {
      old_change[to] = ((RATE * delta[to]) + (MOMENTUM * old_change[to]));
      weights[to] += old_change[to];
   }
}
#endif
