// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define LIMIT -999
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cuda.h>
#include <sys/time.h>

// Alignment of two sequences: tiles along a diagonal at the same time, and within a tile again diagonal by diagonal.
#ifdef RD_WG_SIZE_0_0
#define TILE RD_WG_SIZE_0_0
#else
#define TILE 16
#endif

__device__ __host__ int
best_of( int a,
		  int b,
		  int c){

	int best = a;
	if( b > best ) best = b;
	if( c > best )
	best = c;
	return(best);
}

// one tile; its row and column 0 are results of the previous tiles
__device__ void
align_tile(int *similarity, int *scores, int cols, int penalty, int tile_row, int tile_col)
{
  __shared__ int temp[TILE+1][TILE+1];
  __shared__ int ref[TILE][TILE];

  int tx = threadIdx.x;
  int corner = cols * TILE * tile_row + TILE * tile_col;

  if (tx == 0) temp[0][0] = scores[corner];
  for ( int ty = 0 ; ty < TILE ; ty++)
    ref[ty][tx] = similarity[corner + (cols + 1) + cols * ty + tx];
  temp[tx + 1][0] = scores[corner + cols * (tx + 1)];
  temp[0][tx + 1] = scores[corner + tx + 1];
  __syncthreads();

  for( int m = 0 ; m < 2 * TILE - 1 ; m++){
	  int x = m < TILE ? tx + 1 : tx + m - TILE + 2;
	  int y = m < TILE ? m - tx + 1 : TILE - tx;
	  if ( x <= TILE && y >= 1 ){
		  temp[y][x] = best_of( temp[y-1][x-1] + ref[y-1][x-1],
		                        temp[y][x-1]  - penalty,
								temp[y-1][x]  - penalty);
	  }
	  __syncthreads();
  }

  for ( int ty = 0 ; ty < TILE ; ty++)
    scores[corner + (cols + 1) + cols * ty + tx] = temp[ty+1][tx+1];
}

__global__ void
upper_left(int *similarity, int *scores, int cols, int penalty, int diagonal)
{
  int bx = blockIdx.x;
  align_tile(similarity, scores, cols, penalty, diagonal - 1 - bx, bx);
}

__global__ void
lower_right(int *similarity, int *scores, int cols, int penalty, int diagonal, int tiles)
{
  int bx = blockIdx.x;
  align_tile(similarity, scores, cols, penalty, tiles - 1 - bx, bx + tiles - diagonal);
}
