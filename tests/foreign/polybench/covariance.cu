// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * covariance.cu: as in statistics, but for the division.
 */
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cassert>
#include <cuda.h>

/* 2-D arrays by macros and casts. */
#define M 30
#define N 50
#define AT(array, i, j) (((DATA_TYPE (*)[M])(array))[i][j])

using DATA_TYPE = double;

__global__ void mean_kernel(DATA_TYPE *mean, DATA_TYPE *data)
{
	const int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (j >= M) return;
	mean[j] = 0.0;
	for (int i = 0; i < N; ++i) mean[j] += AT(data, i, j);
	mean[j] /= DATA_TYPE(N);
}

__global__ void reduce_kernel(DATA_TYPE *mean, DATA_TYPE (*data)[M])
{
	const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
	if (i < N && j < M) data[i][j] -= mean[j];
}

__global__ void covar_kernel(DATA_TYPE *symmat, DATA_TYPE *data)
{
	const int j1 = blockIdx.x * blockDim.x + threadIdx.x;
	if (j1 >= M) return;
	for (int j2 = j1; j2 < M; j2++)
	{
		AT(symmat, j1, j2) = 0.0;
		for (int i = 0; i < N; i++) AT(symmat, j1, j2) += AT(data, i, j1) * AT(data, i, j2);
		AT(symmat, j2, j1) = AT(symmat, j1, j2);
	}
}
