// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <assert.h>

// The cheapest way down a grid: a block computes several rows of its part, which shrinks at both ends.
#define BLOCK_SIZE 128
#define HALO 1 // cells lost at each side with each row

#define IN_RANGE(x, low, high)   ((low)<=(x) && (x)<=(high))
#define MIN(a, b) ((a)<=(b) ? (a) : (b))

int   rows, cols;
int*  data;
int** wall;

__global__ void cheapest_kernel(
                int how_many,
                int *cost_below,
                int *cost_so_far,
                int *cost_after,
                int cols,
                int start_row)
{
        __shared__ int before[BLOCK_SIZE];
        __shared__ int after[BLOCK_SIZE];

	int tx=threadIdx.x;
	int col = (BLOCK_SIZE-how_many*HALO*2)*blockIdx.x-how_many*HALO+tx;
	bool exists = IN_RANGE(col, 0, cols-1);
	int left = col == 0 ? tx : tx-1;
	int right = col == cols-1 ? tx : tx+1;
	bool computed;

	if(exists) before[tx] = cost_so_far[col];
	__syncthreads();

	for (int row=0; row<how_many ; row++){
            computed = exists && IN_RANGE(tx, row+1, BLOCK_SIZE-row-2);
            if(computed)
                  after[tx] = cost_below[cols*(start_row+row)+col] + MIN(before[tx], MIN(before[left], before[right]));
            __syncthreads();
            if(row+1==how_many)
                break;
            if(computed) before[tx]= after[tx];
            __syncthreads();
      }

      // only threads that computed the last row write it
      if (computed)
          cost_after[col]=after[tx];
}
