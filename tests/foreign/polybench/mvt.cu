// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * mvt.cu: x1 += A y1; x2 += A^T y2
 */
#include <unistd.h>
#include <stdio.h>
#include <time.h>
#include <sys/time.h>
#include <stdlib.h>
#include <stdarg.h>
#include <string.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

typedef float DATA_TYPE;

extern "C" __global__ void mvt_kernel1(int n, DATA_TYPE *a, DATA_TYPE *x1, DATA_TYPE *y_1)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
	{
		int j;
		for(j=0; j < n; j++)
		{
			x1[i] += a[i * n + j] * y_1[j];
		}
	}
}

extern "C" __global__ void mvt_kernel2(int n, DATA_TYPE *a, DATA_TYPE *x2, DATA_TYPE *y_2)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
	{
		int j;
		for(j=0; j < n; j++)
		{
			x2[i] += a[j * n + i] * y_2[j];
		}
	}
}
