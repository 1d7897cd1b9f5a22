// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"
#include <assert.h>
extern "C" {
#include "darknet.h"
}

// Softmax with a stride and a temperature, one thread for each group: for groups of one size, and for a tree of groups of several sizes.
__device__ static void softmax_of(float *from, float *to, int count, int stride, float temp)
{
    float top = -INFINITY, total = 0;
    for(int i = 0; i < count; ++i) top = fmaxf(top, from[i*stride]);
    for(int i = 0; i < count; ++i) total += to[i*stride] = expf((from[i*stride] - top)/temp);
    while(count--){
        *to /= total;
        to += stride;
    }
}

__global__ void softmax_kernel(float *input, int n, int batch, int batch_offset, int groups, int group_offset, int stride, float temp, float *output)
{
    int me = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if (me >= batch*groups) return;
    int first = me / groups * batch_offset + me % groups * group_offset;
    softmax_of(input + first, output + first, n, stride, temp);
}

__global__ void softmax_tree_kernel(float *input, int spatial, int batch, int stride, float temp, float *output, int groups, int *group_size, int *group_offset)
{
    int me = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if (me >= spatial*batch*groups) return;
    const int group = me / spatial % groups, sample = me / spatial / groups;
    assert(sample < batch);
    const int first = sample*stride + group_offset[group]*spatial + me % spatial;
    input += first;
    output += first;
    softmax_of(input, output, group_size[group], spatial, temp);
}
