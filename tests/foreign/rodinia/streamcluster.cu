// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/***********************************************
	streamcluster.cu: what opening a centre at point x would save
 ***********************************************/
#include <stdio.h>
#include <math.h>
#include <assert.h>

typedef struct {
  float weight;
  float *coord;     /* of the host */
  long assign;      /* the centre that the point belongs to */
  float cost;       /* of that */
} Point;

#define THREADS_PER_BLOCK 128
#define MAXBLOCKS 65536

extern __shared__ float coord_s[];

// squared distance of two points, whose coordinates are stored by dimension
__device__ float
squared_distance(int p1, int p2, int num, int dim, float *coord_d)
{
	float retval = 0.0;
	for(int i = 0; i < dim; i++){
		float tmp = coord_d[(i*num)+p1] - coord_s[i];
		retval += tmp * tmp;
	}
	return retval;
}

__global__ void
gain_of_opening(int num, int dim, long x, Point *p, int K, int stride,
                float *coord_d, float *work_mem_d, int *center_table_d, bool *switch_membership_d)
{
	/* block ID and global thread ID */
	const int bid  = blockIdx.x + gridDim.x * blockIdx.y;
	const int tid = blockDim.x * bid + threadIdx.x;

	// loads the point x: by one thread, as there are few dimensions
	if(threadIdx.x == 0)
		for(int i=0; i<dim; i++) { coord_s[i] = coord_d[i*num + x]; }
	__syncthreads();

	if(tid < num)
	{
		float *lower = &work_mem_d[tid*stride];

		// the cost of assigning the point to x
		float x_cost = squared_distance(tid, x, num, dim, coord_d) * p[tid].weight;

		// if this is cheaper, the point changes its center; otherwise its present center would lose
		if ( x_cost < p[tid].cost )
		{
			switch_membership_d[tid] = 1;
			lower[K] += x_cost - p[tid].cost;
		}
		else
		{
			lower[center_table_d[p[tid].assign]] += p[tid].cost - x_cost;
		}
	}
}

// Host code
static int c = 0;
extern "C" float pgain(long x, Point *points, float z, long int *numcenters, int num, int dim, int kmax, Point *p,
                       float *coord_d, float *work_mem_d, int *center_table_d, bool *switch_membership_d)
{
	cudaEvent_t start, stop;
	float ms = 0;
	cudaEventCreate(&start);
	cudaEventCreate(&stop);
	cudaEventRecord(start, 0);

	int num_blocks = (int) ((float) (num + THREADS_PER_BLOCK - 1) / (float) THREADS_PER_BLOCK);
	int num_blocks_y = (int) ((float) (num_blocks + MAXBLOCKS - 1) / (float) MAXBLOCKS);
	dim3 grid_size((num_blocks + num_blocks_y - 1) / num_blocks_y, num_blocks_y, 1);
	size_t smSize = dim * sizeof(float);
	gain_of_opening<<< grid_size, THREADS_PER_BLOCK, smSize>>>(num, dim, x, p, *numcenters, kmax, coord_d, work_mem_d,
	                                                          center_table_d, switch_membership_d);
	cudaDeviceSynchronize();
	cudaError_t error = cudaGetLastError();
	if (error != cudaSuccess) printf("kernel error: %s\n", cudaGetErrorString(error));

	cudaEventRecord(stop, 0);
	cudaEventSynchronize(stop);
	cudaEventElapsedTime(&ms, start, stop);
	c++;
	return ms;
}
