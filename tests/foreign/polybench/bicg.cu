// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * bicg.cu: the two products of a step of BiCGStab: s = A^T r and q = A p.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <cuda.h>

#ifndef M_PI
#define M_PI 3.14159
#endif

typedef float DATA_TYPE;

/* s */
__global__ void bicg_kernel1(int nx, int ny, DATA_TYPE *A, DATA_TYPE *r, DATA_TYPE *s)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;

	if (j < ny)
	{
		s[j] = 0.0f;
		for(int i = 0; i < nx; i++) s[j] += r[i] * A[i * ny + j];
	}
}

/* q */
__global__ void bicg_kernel2(int nx, int ny, DATA_TYPE *A, DATA_TYPE *p, DATA_TYPE *q)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < nx)
	{
		q[i] = 0.0f;
		for(int j = 0; j < ny; j++) q[i] += A[i * ny + j] * p[j];
	}
}
