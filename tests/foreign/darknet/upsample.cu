// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// Each pixel becomes a square of stride x stride; backward, the square is summed up with atomics.
__global__ void upsample_kernel(size_t N, float *x, int w, int h, int c, int batch, int stride, int forward, float scale, float *out)
{
    const size_t me = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(me >= N) return;

    size_t row = me / (w*stride), col = me - row * (w*stride);
    size_t plane = row / (h*stride);
    row -= plane * (h*stride);
    float *small = x + (plane*h + row/stride)*w + col/stride;

    if(!forward) atomicAdd(small, scale * out[me]);
    else out[me] += scale * *small;
}
