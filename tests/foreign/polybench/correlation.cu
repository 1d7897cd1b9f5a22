// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * correlation.cu: means, deviations, centring, and the matrix of correlations of M columns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <cuda.h>

#define EPS 0.005
#define sqrt_of_array_cell(x,j) sqrt(x[j])

typedef float DATA_TYPE;

__global__ void mean_kernel(int m, int n, DATA_TYPE *mean, DATA_TYPE *data)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (j < m)
	{
		mean[j] = 0.0;
		for(int i=0; i < n; i++) mean[j] += data[i*m + j];
		mean[j] /= (DATA_TYPE)n;
	}
}

__global__ void std_kernel(int m, int n, DATA_TYPE *mean, DATA_TYPE *std, DATA_TYPE *data)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (j < m)
	{
		std[j] = 0.0;
		for(int i = 0; i < n; i++) std[j] += (data[i*m + j] - mean[j]) * (data[i*m + j] - mean[j]);
		std[j] /= n;
		std[j] = sqrt_of_array_cell(std, j);
		if (std[j] <= EPS) std[j] = 1.0;
	}
}

__global__ void reduce_kernel(int m, int n, DATA_TYPE *mean, DATA_TYPE *std, DATA_TYPE *data)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;
	if ((i < n) && (j < m))
	{
		data[i*m + j] -= mean[j];
		data[i*m + j] /= (sqrt((float)n) * std[j]);
	}
}

/* Row j1 from the diagonal on; the column is set with it. */
__global__ void corr_kernel(int m, int n, DATA_TYPE *symmat, DATA_TYPE *data)
{
	int j1 = blockIdx.x * blockDim.x + threadIdx.x;
	int i, j2;
	if (j1 < m)
	{
		symmat[j1*m + j1] = 1.0;
		for (j2 = (j1 + 1); j2 < m; j2++)
		{
			symmat[j1*m + j2] = 0.0;
			for(i = 0; i < n; i++) symmat[j1*m + j2] += data[i*m + j1] * data[i*m + j2];
			symmat[j2*m + j1] = symmat[j1*m + j2];
		}
	}
}
