// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * gramschmidt.cu: A = Q R, a column after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <sys/time.h>
#include <cuda.h>

#define DIM_THREAD_BLOCK_X 256
#define DIM_THREAD_BLOCK_Y 1

typedef float DATA_TYPE;

/* The norm of column k: one thread. */
__global__ void gramschmidt_kernel1(int ni, int nj, DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
	int tid = blockIdx.x * blockDim.x + threadIdx.x;

	if(tid==0)
	{
		DATA_TYPE nrm = 0.0;
		int i;
		for (i = 0; i < ni; i++)
		{
			nrm += a[i * nj + k] * a[i * nj + k];
		}
		r[k * nj + k] = sqrt(nrm);
	}
}

__global__ void gramschmidt_kernel2(int ni, int nj, DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < ni)
	{
		q[i * nj + k] = a[i * nj + k] / r[k * nj + k];
	}
}

/* What column k has in common with those behind it is taken off. */
__global__ void gramschmidt_kernel3(int ni, int nj, DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;

	if ((j > k) && (j < nj))
	{
		r[k*nj + j] = 0.0;

		int i;
		for (i = 0; i < ni; i++)
		{
			r[k*nj + j] += q[i*nj + k] * a[i*nj + j];
		}
		for (i = 0; i < ni; i++)
		{
			a[i*nj + j] -= q[i*nj + k] * r[k*nj + j];
		}
	}
}
