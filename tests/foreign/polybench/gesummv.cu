// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * gesummv.cu: y = alpha A x + beta B x. A C++ template for both precisions.
 */
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cuda.h>

template <typename T>
__global__ void gesummv_kernel(int n, T alpha, T beta, T *A, T *B, T *tmp, T *x, T *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
	{
		tmp[i] = T(0);
		y[i] = T(0);
		for(int j = 0; j < n; j++)
		{
			tmp[i] += A[i * n + j] * x[j];
			y[i] += B[i * n + j] * x[j];
		}
		y[i] = alpha * tmp[i] + beta  * y[i];
	}
}

template __global__ void gesummv_kernel<float>(int, float, float, float *, float *, float *, float *, float *);
template __global__ void gesummv_kernel<double>(int, double, double, double *, double *, double *, double *, double *);
