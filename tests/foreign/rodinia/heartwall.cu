// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <cuda.h>

// Tracks points of a wall through frames: for each point, one block compares its template with all positions nearby.
#define fp float
#define TEMPLATE_SIDE 8
#define REACH 4
#define WINDOW (TEMPLATE_SIDE + 2 * REACH)
#define PLACES (2 * REACH + 1)
#define NUMBER_THREADS 96
#define ALL_POINTS 12

typedef struct params_common_t {
	int frame_rows;
	int frame_cols;
	fp weight_of_distance;
} params_common;

typedef struct params_unique_t {
	int point_no;
	int row, col;              // of the template's corner in the first frame
} params_unique;

__constant__ params_common d_common;
__constant__ params_unique d_unique[ALL_POINTS];

__device__ static fp
similarity(const fp * __restrict__ window, const fp * __restrict__ pattern, fp mean_of_pattern, fp norm_of_pattern, int r, int c)
{
	fp sum = 0, squares = 0, products = 0;
	window += r * WINDOW + c;
	for(int i=0; i<TEMPLATE_SIDE; i++, window += WINDOW)
		for(int j=0; j<TEMPLATE_SIDE; j++){
			const fp v = window[j];
			sum += v;
			squares += v * v;
			products += v * (pattern[i * TEMPLATE_SIDE + j] - mean_of_pattern);
		}
	const fp n = TEMPLATE_SIDE * TEMPLATE_SIDE;
	return products / (norm_of_pattern * sqrtf(squares - sum * sum / n));
}

__global__ void
track(const fp *frame, const fp *patterns, int *d_moved_row, int *d_moved_col, fp *d_best)
{
	__shared__ fp window[WINDOW * WINDOW];
	__shared__ fp pattern[TEMPLATE_SIDE * TEMPLATE_SIDE];
	__shared__ fp score[PLACES * PLACES];
	__shared__ fp mean, norm;

	const int bx = blockIdx.x;
	const int tx = threadIdx.x;
	int ei_new, row, col;

	for(ei_new = tx; ei_new < WINDOW * WINDOW; ei_new = ei_new + NUMBER_THREADS){
		row = d_unique[bx].row - REACH + ei_new / WINDOW;
		col = d_unique[bx].col - REACH + ei_new % WINDOW;
		window[ei_new] = row < 0 || col < 0 || row >= d_common.frame_rows || col >= d_common.frame_cols ? 0 : frame[row * d_common.frame_cols + col];
	}
	for(ei_new = tx; ei_new < TEMPLATE_SIDE * TEMPLATE_SIDE; ei_new = ei_new + NUMBER_THREADS)
		pattern[ei_new] = patterns[d_unique[bx].point_no * TEMPLATE_SIDE * TEMPLATE_SIDE + ei_new];
	__syncthreads();

	if(tx==0){
		fp sum = 0, squares = 0;
		for(int i=0; i<TEMPLATE_SIDE * TEMPLATE_SIDE; i++) sum += pattern[i];
		mean = sum / (TEMPLATE_SIDE * TEMPLATE_SIDE);
		for(int i=0; i<TEMPLATE_SIDE * TEMPLATE_SIDE; i++) squares += (pattern[i] - mean) * (pattern[i] - mean);
		norm = sqrtf(squares);
	}
	__syncthreads();

	for(ei_new = tx; ei_new < PLACES * PLACES; ei_new = ei_new + NUMBER_THREADS){
		row = ei_new / PLACES;
		col = ei_new % PLACES;
		score[ei_new] = similarity(window, pattern, mean, norm, row, col)
			- d_common.weight_of_distance * ((row - REACH) * (row - REACH) + (col - REACH) * (col - REACH));
	}
	__syncthreads();

	if(tx==0){
		int best = 0;
		for(int i=1; i<PLACES * PLACES; i++)
			if(score[i] > score[best]) best = i;
		d_moved_row[bx] = best / PLACES - REACH;
		d_moved_col[bx] = best % PLACES - REACH;
		d_best[bx] = score[best];
	}
}
