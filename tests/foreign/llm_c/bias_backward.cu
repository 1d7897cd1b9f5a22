// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
dbias (OC) += sums of the columns of dout (BT, OC)

1: a block for each column
2: 32 columns for each block, whose warps take turns at the rows; cooperative groups and atomics
3: many blocks for each column, counted by a fetch-and-increment: the last one adds up
*/
#include "common.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void bias_backward_kernel1(float* dbias, const float* dout, int BT, int OC) {
    extern __shared__ float part[];
    int o = blockIdx.x;
    int tid = threadIdx.x;
    const float* column = dout + o;
    double sum = 0.0;
    for (int i = tid; i < BT; i += blockDim.x) sum += column[i * OC];
    part[tid] = (float) sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) part[tid] += part[tid + stride];
    }
    if (tid == 0) dbias[o] += part[0];
}

__global__ void bias_backward_kernel2(float* dbias, const float* dout, int BT, int OC) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    extern __shared__ float part[];  // warps x 32
    const int column = blockIdx.x * 32 + warp.thread_rank();
    float sum = 0.0f;
    if (column < OC) {
        for (int row = warp.meta_group_rank(); row < BT; row += warp.meta_group_size()) sum += dout[row * OC + column];
    }
    part[warp.thread_rank() + 32 * warp.meta_group_rank()] = sum;
    cg::sync(block);
    if (warp.meta_group_rank() == 0 && column < OC) {
        sum = 0.0f;
        for (int w = 0; w < warp.meta_group_size(); w++) sum += part[w * 32 + warp.thread_rank()];
        atomicAdd(&dbias[column], sum);
    }
}

__device__ unsigned int arrived = 0;

// grid of {columns / 32, parts}, blocks of {32, rows}
__global__ void bias_backward_kernel3(float* dbias, volatile float* scratch, const float* dout, int BT, int OC) {
    __shared__ float sums[32];
    __shared__ bool last;
    const int column = 32 * blockIdx.x + threadIdx.x;
    if (threadIdx.y == 0) sums[threadIdx.x] = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < BT; row += gridDim.y * blockDim.y) sum += dout[row * OC + column];
    atomicAdd(&sums[threadIdx.x], sum);
    __syncthreads();
    if (threadIdx.y == 0) scratch[blockIdx.y * OC + column] = sums[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        last = atomicInc(&arrived, gridDim.x * gridDim.y - 1) == gridDim.x * gridDim.y - 1;
    }
    __syncthreads();
    if (!last) return;
    for (int c = threadIdx.y * 32 + threadIdx.x; c < OC; c += 32 * blockDim.y) {
        float total = 0.0f;
        for (int part = 0; part < gridDim.y; part++) total += scratch[part * OC + c];
        dbias[c] += total;
    }
}
