// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * gemver.cu: A += u1 v1^T + u2 v2^T; x = beta A^T y + z; w = alpha A x.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda.h>

/* Scalars lie in constant memory here, arrays come as arguments. */
__constant__ float ALPHA_BETA[2];
#define ALPHA ALPHA_BETA[0]
#define BETA ALPHA_BETA[1]

typedef float DATA_TYPE;

__global__ void gemver_kernel1(int n, DATA_TYPE *a, DATA_TYPE *v1, DATA_TYPE *v2, DATA_TYPE *u1, DATA_TYPE *u2)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;

	if ((i < n) && (j < n)) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}

__global__ void gemver_kernel2(int n, DATA_TYPE *a, DATA_TYPE *x, DATA_TYPE *y, DATA_TYPE *z)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
	{
		int j;
		for(j = 0; j < n; j++) x[i] += BETA * a[j * n + i] * y[j];
		x[i] += z[i];
	}
}

__global__ void gemver_kernel3(int n, DATA_TYPE *a, DATA_TYPE *x, DATA_TYPE *w)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if ((i >= 0) && (i < n))
	{
		for(int j = 0; j < n; j++) w[i] += ALPHA * a[i*n + j] * x[j];
	}
}
