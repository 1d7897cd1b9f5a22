// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#ifndef _KMEANS_KERNEL_H_
#define _KMEANS_KERNEL_H_

#include <stdio.h>
#include <cuda.h>

#define ASSUMED_NR_CLUSTERS 8
#define THREADS_PER_BLOCK 64
#define FLT_BIG 3.40282347e+38

#define MAX_FEATURES 16
__constant__ float c_centres[ASSUMED_NR_CLUSTERS*MAX_FEATURES];

/* points as rows to points as columns, and back */
__global__ void invert_mapping(float *input, float *output, int npoints, int nfeatures)
{
	int point_id = threadIdx.x + blockDim.x*blockIdx.x;

	if(point_id < npoints){
		for(int i=0;i<nfeatures;i++)
			output[point_id + npoints*i] = input[point_id*nfeatures + i];
	}
	return;
}

/* the nearest centre of each point, and how many points of the block changed theirs */
__global__ void
nearest_centre(float  *features,
               int     nfeatures,
               int     npoints,
               int     nclusters,
               int    *membership,
			   int    *changed)
{
	const unsigned int block_id = gridDim.x*blockIdx.y+blockIdx.x;
	const unsigned int point_id = block_id*blockDim.x*blockDim.y + threadIdx.x;
	__shared__ int moved[THREADS_PER_BLOCK];

	moved[threadIdx.x] = 0;
	if (point_id < npoints)
	{
		int i, j;
		int index = -1;
		float min_dist = FLT_BIG;

		for (i=0; i<nclusters; i++) {
			int base = i*nfeatures;
			float ans=0.0;
			for (j=0; j < nfeatures; j++)
			{
				float diff = (features[j*npoints + point_id] - c_centres[base + j]);
				ans += diff*diff;
			}
			if (ans < min_dist) {
				min_dist = ans;
				index    = i;
			}
		}
		moved[threadIdx.x] = membership[point_id] != index;
		membership[point_id] = index;
	}

	unsigned int threadids_participating = THREADS_PER_BLOCK / 2;
	for(;threadids_participating > 0;threadids_participating /= 2) {
		__syncthreads();
		if(threadIdx.x < threadids_participating)
			moved[threadIdx.x] += moved[threadIdx.x + threadids_participating];
	}
	__syncthreads();
	if(threadIdx.x == 0) changed[block_id] = moved[0];
}
#endif // #ifndef _KMEANS_KERNEL_H_
