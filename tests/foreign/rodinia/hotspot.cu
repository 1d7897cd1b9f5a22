// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <assert.h>

// Heat on a chip: a block computes several steps of its tile, which shrinks by one at each side with each step.
#ifdef RD_WG_SIZE
        #define BLOCK_SIZE RD_WG_SIZE
#else
        #define BLOCK_SIZE 16
#endif

#define STR_SIZE 256

#define IN_RANGE(x, low, high)   ((low)<=(x) && (x)<=(high))
#define MIN(a, b) ((a)<=(b) ? (a) : (b))

float t_chip = 0.0005;
float chip_height = 0.016, chip_width = 0.016;

void fatal(char *s)
{
	fprintf(stderr, "error: %s\n", s);
}

__global__ void heat_steps(int steps,          //number of steps
                           float *power,
                           float *heat_src,
                           float *heat_dst,
                           int cols,
                           int rows,
                           float step_div_Cap,
                           float Rx_1, float Ry_1, float Rz_1){

        __shared__ float heat[2][BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float power_here[BLOCK_SIZE][BLOCK_SIZE];

	float ambient = 80.0;

	int tx=threadIdx.x, ty=threadIdx.y;
	// the rest of the tile after all steps is adjacent to that of the next block
	int inner = BLOCK_SIZE-steps*2;
	int x = inner*blockIdx.x-steps+tx;
	int y = inner*blockIdx.y-steps+ty;
	bool here = IN_RANGE(x, 0, cols-1) && IN_RANGE(y, 0, rows-1);

	if(here){
            heat[0][ty][tx] = heat_src[cols*y+x];
            power_here[ty][tx] = power[cols*y+x];
	}
	__syncthreads();

	// neighbors in the tile; at the chip's border, a thread's own cell
	int W = tx-1, E = tx+1, N = ty-1, S = ty+1;
	if (x == 0) W = tx;
	if (x == cols-1) E = tx;
	if (y == 0) N = ty;
	if (y == rows-1) S = ty;

	int from = 0;
        for (int i=0; i<steps ; i++){
            if( here && IN_RANGE(tx, i+1, BLOCK_SIZE-i-2) && IN_RANGE(ty, i+1, BLOCK_SIZE-i-2) ){
                  float me = heat[from][ty][tx];
                  heat[1-from][ty][tx] = me + step_div_Cap * (power_here[ty][tx] +
	       	         (heat[from][S][tx] + heat[from][N][tx] - 2.0*me) * Ry_1 +
		             (heat[from][ty][E] + heat[from][ty][W] - 2.0*me) * Rx_1 +
		             (ambient - me) * Rz_1);
            }
            __syncthreads();
            from = 1-from;
        }

	if (here && IN_RANGE(tx, steps, BLOCK_SIZE-steps-1) && IN_RANGE(ty, steps, BLOCK_SIZE-steps-1))
          heat_dst[cols*y+x]= heat[from][ty][tx];
}
