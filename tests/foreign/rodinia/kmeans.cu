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

/* points as rows to points as columns */
__global__ void invert_mapping(float *rows, float *columns, int npoints, int nfeatures)
{
	int point = threadIdx.x + blockDim.x*blockIdx.x, f = 0;
	if(point >= npoints) return;
	while(f < nfeatures){
		columns[f*npoints + point] = rows[point*nfeatures + f];
		f++;
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
	const unsigned int block = gridDim.x*blockIdx.y+blockIdx.x;
	const unsigned int point = block*blockDim.x + threadIdx.x;
	__shared__ int moved[THREADS_PER_BLOCK];

	moved[threadIdx.x] = 0;
	if (point < npoints)
	{
		int nearest = -1;
		float least = FLT_BIG;
		float *centre = c_centres;

		for (int c=0; c<nclusters; c++, centre+=nfeatures) {
			float square=0.0;
			for (int f=0; f < nfeatures; f++)
				square += (features[f*npoints + point] - centre[f])*(features[f*npoints + point] - centre[f]);
			if (square < least) {
				least   = square;
				nearest = c;
			}
		}
		moved[threadIdx.x] = membership[point] != nearest;
		membership[point] = nearest;
	}

	unsigned int half = THREADS_PER_BLOCK / 2;
	for(;half > 0;half /= 2) {
		__syncthreads();
		if(threadIdx.x < half)
			moved[threadIdx.x] += moved[threadIdx.x + half];
	}
	__syncthreads();
	if(threadIdx.x == 0) changed[block] = moved[0];
}
#endif // #ifndef _KMEANS_KERNEL_H_
