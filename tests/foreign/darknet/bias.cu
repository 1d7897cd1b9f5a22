// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// A value for each channel is added or multiplied; backward, one block for each channel sums up the gradients.
#define FOR_MY_CHANNEL(sample, at) \
    for(int sample = 0; sample < batch; ++sample) \
        for(int at = threadIdx.x + size*(blockIdx.x + channels*sample), end = size*(blockIdx.x + 1 + channels*sample); at < end; at += BLOCK)

__global__ void add_bias_kernel(float *output, float *biases, int batch, int channels, int size)
{
    int at = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if (at < batch*channels*size) output[at] += biases[at / size % channels];
}

__global__ void scale_bias_kernel(float *output, float *biases, int channels, int size)
{
    float *plane = output + (blockIdx.z*channels + blockIdx.y)*size;
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;

    if(pixel < size) plane[pixel] *= biases[blockIdx.y];
}

__global__ void backward_bias_kernel(float *bias_updates, float *delta, int batch, int channels, int size)
{
    __shared__ float of_thread[BLOCK];
    float sum = 0;
    FOR_MY_CHANNEL(b, i) sum += delta[i];
    of_thread[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for(int t = 0; t < BLOCK; ++t) sum += of_thread[t];
        bias_updates[blockIdx.x] += sum;
    }
}
