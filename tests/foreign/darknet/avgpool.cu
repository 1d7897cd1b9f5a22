// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// One thread reduces a plane to its mean. Backward, the gradient is spread over the plane.
__global__ void forward_avgpool(int planes, int w, int h, int c, float *input, float *output)
{
    int plane = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(plane >= planes) return;
    float *pixel = input + plane*w*h, *end = pixel + w*h;

    for(output[plane] = 0; pixel != end; ++pixel) output[plane] += *pixel;
    output[plane] /= w*h;
}

__global__ void backward_avgpool(int planes, int w, int h, int c, float *in_delta, float *out_delta)
{
    int plane = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(plane >= planes) return;
    float share = out_delta[plane] / (w*h);
    in_delta += plane*w*h;
    for(int left = w*h; left--; ) *in_delta++ += share;
}
