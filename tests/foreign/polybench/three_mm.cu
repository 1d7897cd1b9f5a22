// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * 3mm.cu: G = (A B) (C D), in double precision, with one kernel that is launched three times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <sys/time.h>
#include <cuda.h>

#define GPU_DEVICE 0
#define DIM_THREAD_BLOCK_X 16
#define DIM_THREAD_BLOCK_Y 16

#if defined(DATA_TYPE_IS_FLOAT)
typedef float DATA_TYPE;
#else
typedef double DATA_TYPE;
#endif

__global__ void mm3_kernel(int rows, int columns, int inner, DATA_TYPE *left, DATA_TYPE *right, DATA_TYPE *product)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;
	if ((i < rows) && (j < columns))
	{
		product[i * columns + j] = 0;
		for (int k = 0; k < inner; ++k)
		{
			product[i * columns + j] += left[i * inner + k] * right[k * columns + j];
		}
	}
}
