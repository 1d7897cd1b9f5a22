// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cuda.h>
#include "srad.h"

// Removes speckles from a column-major image; north, south, west and east are the indices of neighboring rows and columns.

// sums of each block's values and of their squares, also for a last block that is not full
__global__ void sums_of(const fp *image, long elements, fp *sums, fp *squares){

	__shared__ fp part[NUMBER_THREADS];
	__shared__ fp part2[NUMBER_THREADS];

	int tx = threadIdx.x;
	long ei = (long)blockIdx.x*NUMBER_THREADS+tx;
	int here = elements - (long)blockIdx.x*NUMBER_THREADS;
	int i;

	if(ei<elements){
		part[tx] = image[ei];
		part2[tx] = image[ei]*image[ei];
	}
	__syncthreads();

	if(here >= NUMBER_THREADS){
		for(i=NUMBER_THREADS/2; i>0; i=i/2){
			if(tx<i){
				part[tx] += part[tx+i];
				part2[tx] += part2[tx+i];
			}
			__syncthreads();		// in a branch that all threads of the block take
		}
	}
	else{
		if(tx==0)
			for(i=1; i<here; i++){
				part[0] += part[i];
				part2[0] += part2[i];
			}
	}
	if(tx==0){
		sums[blockIdx.x] = part[0];
		squares[blockIdx.x] = part2[0];
	}
}

// differences to the neighbors, and the diffusion coefficient
__global__ void coefficients(	fp lambda, int rows, int cols, long elements,
					int *north, int *south, int *east, int *west,
					fp *dN, fp *dS, fp *dE, fp *dW,
					fp q0sqr, fp *c, fp *image){

	int ei = blockIdx.x*NUMBER_THREADS+threadIdx.x;
	if(ei>=elements) return;

	int row = (ei+1) % rows - 1;			// as for an array with indices from 1 ...
	int col = (ei+1) / rows + 1 - 1;
	if((ei+1) % rows == 0){				// ... with an exception for the last element of a column
		row = rows - 1;
		col = col - 1;
	}

	fp J = image[ei];
	fp n = image[north[row] + rows*col] - J;
	fp s = image[south[row] + rows*col] - J;
	fp w = image[row + rows*west[col]] - J;
	fp e = image[row + rows*east[col]] - J;

	fp G2 = (n*n + s*s + w*w + e*e) / (J*J);
	fp L = (n + s + w + e) / J;
	fp num = (0.5*G2) - ((1.0/16.0)*(L*L));
	fp den = 1 + (0.25*L);
	fp q = num/(den*den);
	den = (q-q0sqr) / (q0sqr * (1+q0sqr));
	fp here = 1.0 / (1.0+den);
	if (here < 0) { here = 0; }
	else if (here > 1) { here = 1; }

	dN[ei] = n; dS[ei] = s; dW[ei] = w; dE[ei] = e;
	c[ei] = here;
}

__global__ void diffuse(	fp lambda, int rows, int cols, long elements,
					int *, int *south, int *east, int *,
					fp *dN, fp *dS, fp *dE, fp *dW,
					fp *c, fp *image){

	int ei = blockIdx.x*NUMBER_THREADS+threadIdx.x;
	if(ei>=elements) return;
	int row = ei % rows, col = ei / rows;
	fp cS = c[south[row] + rows*col];
	fp cE = c[row + rows*east[col]];
	fp D = c[ei]*dN[ei] + cS*dS[ei] + c[ei]*dW[ei] + cE*dE[ei];
	image[ei] = image[ei] + 0.25*lambda*D;
}
