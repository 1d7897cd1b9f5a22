// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// The maximum of each window and its index; backward, the gradient goes to that index.
typedef struct { int x, y, plane; } place;

__device__ static place place_of(int i, int w, int h)
{
    place p;
    p.x = i % w;
    i /= w;
    p.y = i % h;
    p.plane = i / h;
    return p;
}

__global__ void forward_maxpool(int n, int in_h, int in_w, int in_c, int stride, int size, int pad, float *input, float *output, int *indexes)
{
    int me = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(me >= n) return;
    place p = place_of(me, (in_w + pad - size)/stride + 1, (in_h + pad - size)/stride + 1);
    int top = p.y*stride - pad/2, left = p.x*stride - pad/2;

    float best = -INFINITY;
    int best_at = -1;
    for(int dy = 0; dy < size; ++dy){
        for(int dx = 0; dx < size; ++dx){
            int y = top + dy, x = left + dx;
            int inside = (y >= 0 && y < in_h && x >= 0 && x < in_w);
            int at = (p.plane*in_h + y)*in_w + x;
            float here = inside ? input[at] : -INFINITY;
            best_at = (here > best) ? at : best_at;
            best = fmaxf(best, here);
        }
    }
    output[me] = best;
    indexes[me] = best_at;
}

__global__ void backward_maxpool(int n, float *delta, float *prev_delta, int *indexes)
{
    int me = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(me >= n) return;
    atomicAdd(prev_delta + indexes[me], delta[me]);    // windows overlap
}
