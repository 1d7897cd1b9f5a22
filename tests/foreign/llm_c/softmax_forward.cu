// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Softmax of the rows of a matrix (N, C), forward.

1: each thread takes a row, sum in double
2: each block takes a row, trees in shared memory
3: each warp takes a row, maximum and sum in one pass ("online"), cooperative groups
4: each block takes a row, shuffles first, then a few numbers in shared memory

Usage: nvcc -O3 softmax_forward.cu && ./a.out 4
*/
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <float.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void softmax_forward_kernel1(float* out, const float* inp, int N, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < N) {
        const float* x = inp + row * C;
        float* y = out + row * C;
        float top = -INFINITY;
        for (int c = 0; c < C; c++) if (x[c] > top) top = x[c];
        double total = 0.0;
        for (int c = 0; c < C; c++) {
            y[c] = expf(x[c] - top);
            total += y[c];
        }
        for (int c = 0; c < C; c++) y[c] /= (float)total;
    }
}

__global__ void softmax_forward_kernel2(float* out, const float* inp, int N, int C) {
    extern __shared__ float tree[];
    const int tid = threadIdx.x, width = blockDim.x;
    const float* x = inp + blockIdx.x * C;
    float* y = out + blockIdx.x * C;

    float top = -INFINITY;
    for (int c = tid; c < C; c += width) top = fmaxf(top, x[c]);
    tree[tid] = top;
    for (int half = width / 2; half >= 1; half /= 2) {
        __syncthreads();
        if (tid < half) tree[tid] = fmaxf(tree[tid], tree[tid + half]);
    }
    __syncthreads();
    top = tree[0];
    for (int c = tid; c < C; c += width) y[c] = expf(x[c] - top);
    __syncthreads();

    float total = 0.0f;
    x = y;
    for (int c = tid; c < C; c += width) total += x[c];
    tree[tid] = total;
    for (int half = width / 2; half >= 1; half /= 2) {
        __syncthreads();
        if (tid < half) tree[tid] += tree[tid + half];
    }
    __syncthreads();
    total = tree[0];
    for (int c = tid; c < C; c += width) y[c] = x[c] / total;
}

// a maximum, and the sum of the exponentials relative to it
struct __align__(8) Partial {
    float top;
    float total;
};

__device__ __forceinline__ Partial join(Partial p, Partial q) {
    const bool first = p.top > q.top;
    const Partial large = first ? p : q, small = first ? q : p;
    return Partial{large.top, large.total + small.total * expf(small.top - large.top)};
}

__global__ void softmax_forward_online_kernel3(float* __restrict__ out, const float* __restrict__ inp, int N, int C) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= N) return;
    const float* x = inp + row * C;

    Partial mine = {-INFINITY, 0.0f};
    for (int c = warp.thread_rank(); c < C; c += warp.size()) mine = join(mine, {x[c], 1.0f});
    const Partial all = cg::reduce(warp, mine, join);
    for (int c = warp.thread_rank(); c < C; c += warp.size()) {
        __stcs(out + row * C + c, expf(__ldcs(x + c) - all.top) / all.total);
    }
}

__device__ float warp_max(float v) {
    for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_down_sync(0xFFFFFFFF, v, o));
    return v;
}
__device__ float warp_sum(float v) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xFFFFFFFF, v, o);
    return v;
}

__global__ void softmax_forward_kernel4(float* out, const float* inp, int N, int C) {
    extern __shared__ float few[];
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float* tops = few;
    float* totals = few + warps;
    const float* x = inp + blockIdx.x * C;
    float* y = out + blockIdx.x * C;

    float top = -INFINITY;
    for (int c = threadIdx.x; c < C; c += blockDim.x) top = fmaxf(top, x[c]);
    top = warp_max(top);
    if (lane == 0) tops[warp] = top;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < warps; w++) tops[0] = fmaxf(tops[0], tops[w]);
    }
    __syncthreads();

    float total = 0.0f;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        const float e = expf(x[c] - tops[0]);
        y[c] = e;
        total += e;
    }
    total = warp_sum(total);
    if (lane == 0) totals[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < warps; w++) totals[0] += totals[w];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < C; c += blockDim.x) y[c] /= totals[0];
}
