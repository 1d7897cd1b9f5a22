// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// Means and variances of filters, with one block for each, and the normalization of rows by them.
__device__ static void total_of_block(float mine, float *out, float divisor)
{
    const int threads = BLOCK;
    __shared__ float local[threads];
    local[threadIdx.x] = mine;
    __syncthreads();
    if(threadIdx.x == 0){
        float total = 0;
        for(int t = 0; t < threads; ++t) total += local[t];
        *out = total / divisor;
    }
}

__global__ void mean_of_filters(float *x, int batch, int filters, int spatial, float *mean)
{
    float sum = 0;
    for(int b = 0; b < batch; ++b){
        float *plane = x + (b*filters + blockIdx.x)*spatial;
        for(int i = threadIdx.x; i < spatial; i += BLOCK) sum += plane[i];
    }
    total_of_block(sum, mean + blockIdx.x, spatial*batch);
}

__global__ void variance_of_filters(float *x, float *mean, int batch, int filters, int spatial, float *variance)
{
    float sum = 0;
    for(int b = 0; b < batch; ++b){
        float *plane = x + (b*filters + blockIdx.x)*spatial;
        for(int i = threadIdx.x; i < spatial; i += BLOCK) sum += powf((plane[i] - mean[blockIdx.x]), 2);
    }
    total_of_block(sum, variance + blockIdx.x, spatial*batch - 1);
}

__global__ void normalize_kernel(int N, float *x, float *mean, float *variance, int batch, int filters, int spatial)
{
    int at = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if (at >= N) return;
    int filter = (at/spatial)%filters;
    x[at] -= mean[filter];
    x[at] /= sqrtf(variance[filter] + .00001f);
}
