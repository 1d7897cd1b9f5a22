// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * adi.cu: alternating directions: sweeps along rows, then along columns, forward and back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <cuda.h>

typedef double DATA_TYPE;

/* along the rows: a thread for each */
__global__ void adi_kernel1(int n, DATA_TYPE* A, DATA_TYPE* B, DATA_TYPE* X)
{
	int i1 = blockIdx.x * blockDim.x + threadIdx.x;
	int i2;
	if (i1 < n)
	{
		for (i2 = 1; i2 < n; i2++)
		{
			X[i1*n + i2] = X[i1*n + i2] - X[i1*n + (i2-1)] * A[i1*n + i2] / B[i1*n + (i2-1)];
			B[i1*n + i2] = B[i1*n + i2] - A[i1*n + i2] * A[i1*n + i2] / B[i1*n + (i2-1)];
		}
		X[i1*n + (n-1)] = X[i1*n + (n-1)] / B[i1*n + (n-1)];
		for (i2 = n - 2; i2 >= 0; i2--)
			X[i1*n + i2] = (X[i1*n + i2] - X[i1*n + i2 + 1] * A[i1*n + i2 + 1]) / B[i1*n + i2];
	}
}

/* along the columns: a launch for each step */
__global__ void adi_kernel2(int n, DATA_TYPE* A, DATA_TYPE* B, DATA_TYPE* X, int i1)
{
	int i2 = blockIdx.x * blockDim.x + threadIdx.x;
	if (i2 < n)
	{
		X[i1*n + i2] = X[i1*n + i2] - X[(i1-1)*n + i2] * A[i1*n + i2] / B[(i1-1)*n + i2];
		B[i1*n + i2] = B[i1*n + i2] - A[i1*n + i2] * A[i1*n + i2] / B[(i1-1)*n + i2];
	}
}

__global__ void adi_kernel3(int n, DATA_TYPE* A, DATA_TYPE* B, DATA_TYPE* X)
{
	int i2 = blockIdx.x * blockDim.x + threadIdx.x;
	if (i2 < n) X[(n-1)*n + i2] = X[(n-1)*n + i2] / B[(n-1)*n + i2];
}

__global__ void adi_kernel4(int n, DATA_TYPE* A, DATA_TYPE* B, DATA_TYPE* X, int i1)
{
	int i2 = blockIdx.x * blockDim.x + threadIdx.x;
	if (i2 < n) X[i1*n + i2] = (X[i1*n + i2] - X[(i1+1)*n + i2] * A[(i1+1)*n + i2]) / B[i1*n + i2];
}
