// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*-----------------------------------------------------------
 ** gaussian.cu -- elimination: for each column, multipliers, then the rows below it, then the right side.
 **-----------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "cuda.h"
#include <string.h>
#include <math.h>

#ifdef RD_WG_SIZE_0_0
        #define MAXBLOCKSIZE RD_WG_SIZE_0_0
#elif defined(RD_WG_SIZE)
        #define MAXBLOCKSIZE RD_WG_SIZE
#else
        #define MAXBLOCKSIZE 64
#endif
#define BLOCK_SIZE_XY 4

int Size;
float *a, *b, *finalVec;
float *m;

__global__ void Multipliers(float *m_cuda, float *a_cuda, int Size, int t)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x + t + 1;
	if(row>=Size) return;
	*(m_cuda+Size*row+t) = *(a_cuda+Size*row+t) / *(a_cuda+Size*t+t);
}

__global__ void Eliminate(float *m_cuda, float *a_cuda, float *b_cuda, int Size, int j1, int t)
{
	if(threadIdx.x + blockIdx.x * blockDim.x >= Size-1-t) return;
	if(threadIdx.y + blockIdx.y * blockDim.y >= Size-t) return;

	int xidx = blockIdx.x * blockDim.x + threadIdx.x;
	int yidx = blockIdx.y * blockDim.y + threadIdx.y;

	a_cuda[Size*(xidx+1+t)+(yidx+t)] -= m_cuda[Size*(xidx+1+t)+t] * a_cuda[Size*t+(yidx+t)];
	if(yidx == 0){
		b_cuda[xidx+1+t] -= m_cuda[Size*(xidx+1+t)+(yidx+t)] * b_cuda[t];
	}
}

// Host code
void ForwardSub(float *m_cuda, float *a_cuda, float *b_cuda)
{
	dim3 dimBlock(MAXBLOCKSIZE), dimGrid((Size + MAXBLOCKSIZE - 1) / MAXBLOCKSIZE);
	int side = (Size + BLOCK_SIZE_XY - 1) / BLOCK_SIZE_XY;
	dim3 dimBlockXY(BLOCK_SIZE_XY,BLOCK_SIZE_XY), dimGridXY(side,side);

	for (int t=0; t<(Size-1); t++) {
		Multipliers<<<dimGrid,dimBlock>>>(m_cuda,a_cuda,Size,t);
		cudaDeviceSynchronize();
		Eliminate<<<dimGridXY,dimBlockXY>>>(m_cuda,a_cuda,b_cuda,Size,Size-t,t);
		cudaError_t err = cudaGetLastError();
		if (err != cudaSuccess) {
			fprintf(stderr, "column %d: %s\n", t, cudaGetErrorString(err));
			exit(EXIT_FAILURE);
		}
	}
}
