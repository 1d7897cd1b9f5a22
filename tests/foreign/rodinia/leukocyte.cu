// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <math.h>
#include "cuda.h"

// Finds round cells: for each pixel, the circle around it with the most uniform outward gradients; then a dilation.
#define PI 3.14159
#define ON_RING 24
#define RINGS 3
#define BORDER 6
#define SHAPE_SIDE 5
#define TEXTURE 0

__constant__ float sines[ON_RING];
__constant__ float cosines[ON_RING];
__constant__ int ring_x[RINGS * ON_RING];
__constant__ int ring_y[RINGS * ON_RING];
__constant__ float c_shape[SHAPE_SIDE * SHAPE_SIDE];

#if TEXTURE
texture<float, 1, cudaReadModeElementType> t_grad_x;
#define FETCH(t, i) tex1Dfetch(t, i)
#else
#define FETCH(t, i) __ldg(&t[i])
#endif

// The matrices are column-major.
__global__ void score_of_rings(const float *grad_x, const float *grad_y, float *score, int rows, int cols)
{
	int i, j, k, n, x, y;

	int pixel = (blockIdx.x * blockDim.x) + threadIdx.x;
	if (pixel >= (rows - 2 * BORDER) * (cols - 2 * BORDER)) return;
	j = pixel / (rows - 2 * BORDER) + BORDER;
	i = pixel % (rows - 2 * BORDER) + BORDER;

	float best = 0.0;
	for (k = 0; k < RINGS; k++) {
		// mean and variance of the outward gradient, in one pass
		float sum = 0.0, squares = 0.0, mean = 0.0;
		for (n = 0; n < ON_RING; n++) {
			y = j + ring_y[(k * ON_RING) + n];
			x = i + ring_x[(k * ON_RING) + n];
			int addr = y * rows + x;
			float p = FETCH(grad_x, addr) * cosines[n] + FETCH(grad_y, addr) * sines[n];
			sum += p;
			float off = p - mean;
			mean = mean + (off / (float)(n + 1));
			squares = squares + (off * (p - mean));
		}
		mean = sum / ((float)ON_RING);
		float var = squares / ((float)(ON_RING - 1));
		if (((mean * mean) / var) > best) best = (mean * mean) / var;
	}
	score[(j * rows) + i] = best;
}

__global__ void dilate(int rows, int cols, const float *img, float *dilated)
{
	int middle = SHAPE_SIDE / 2;
	int pixel = (blockIdx.x * blockDim.x) + threadIdx.x;
	int i = pixel % rows;
	int j = pixel / rows;
	if(j >= cols) return;

	float max = 0.0;
	for(int a = 0; a < SHAPE_SIDE; a++) {
		int y = i - middle + a;
		if( (y >= 0) && (y < rows) ) {
			for(int b = 0; b < SHAPE_SIDE; b++){
				int x = j - middle + b;
				if( (x >= 0) && (x < cols) && (c_shape[(a * SHAPE_SIDE) + b] != 0) ){
					float temp = FETCH(img, (x * rows) + y);
					if(temp > max) max = temp;
				}
			}
		}
	}
	dilated[(j * rows) + i] = max;
}
