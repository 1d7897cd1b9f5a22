// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Layer norm, forward, of N rows of C. mean and rstd of each row are kept for the way back.

1: a thread for each row
2: a kernel for the means, one for the deviations, one for the rest
3: a warp for each row, cooperative groups
4: 16 bytes at a time; weights, bias and the rows themselves in shared memory
*/
#include "common.h"
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#define EPS 1e-5f

__global__ void layernorm_forward_kernel1(float* out, float* mean, float* rstd, const float* inp,
                                          const float* weight, const float* bias, int N, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    inp += row * C;
    out += row * C;
    float m = 0.0f, v = 0.0f;
    for (int c = 0; c < C; c++) m += inp[c];
    m /= C;
    for (int c = 0; c < C; c++) v += (inp[c] - m) * (inp[c] - m);
    float s = 1.0f / sqrtf(v / C + EPS);
    for (int c = 0; c < C; c++) out[c] = (inp[c] - m) * s * weight[c] + bias[c];
    mean[row] = m;
    rstd[row] = s;
}

template<class F>
__device__ float sum_of_row(const float* row, int C, float* tree, F f) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += blockDim.x) sum += f(row[c]);
    tree[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half >= 1; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    __syncthreads();
    return tree[0];
}

__global__ void mean_kernel(float* mean, const float* inp, int C) {
    extern __shared__ float tree[];
    float sum = sum_of_row(inp + blockIdx.x * C, C, tree, [](float x) { return x; });
    if (threadIdx.x == 0) mean[blockIdx.x] = sum / C;
}

__global__ void rstd_kernel(float* rstd, const float* inp, const float* mean, int C) {
    extern __shared__ float tree[];
    const float m = mean[blockIdx.x];
    float sum = sum_of_row(inp + blockIdx.x * C, C, tree, [m](float x) { return (x - m) * (x - m); });
    if (threadIdx.x == 0) rstd[blockIdx.x] = 1.0f / sqrtf(sum / C + EPS);
}

__global__ void normalization_kernel(float* out, const float* inp, float* mean, float* rstd,
                                     const float* weight, const float* bias, int N, int C) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int row = at / C, c = at % C;
    if (row < N) out[at] = (inp[at] - mean[row]) * rstd[row] * weight[c] + bias[c];
}

__global__ void layernorm_forward_kernel3(float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd,
                                          const float* __restrict__ inp, const float* __restrict__ weight,
                                          const float* __restrict__ bias, int N, int C) {
    namespace cg = cooperative_groups;
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= N) return;
    inp += row * C;
    out += row * C;

    float sum = 0.0f;
    for (int c = warp.thread_rank(); c < C; c += warp.size()) sum += inp[c];
    const float m = cg::reduce(warp, sum, cg::plus<float>{}) / C;
    if (mean != nullptr && warp.thread_rank() == 0) __stcs(mean + row, m);

    sum = 0.0f;
    for (int c = warp.thread_rank(); c < C; c += warp.size()) sum += (inp[c] - m) * (inp[c] - m);
    const float s = rsqrtf(cg::reduce(warp, sum, cg::plus<float>{}) / C + EPS);
    if (rstd != nullptr && warp.thread_rank() == 0) __stcs(rstd + row, s);

    for (int c = warp.thread_rank(); c < C; c += warp.size()) {
        __stcs(out + c, (__ldcs(inp + c) - m) * s * weight[c] + bias[c]);
    }
}

// blocks of {32, rows}
__global__ void layernorm_forward_kernel4(float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd,
                                          const float* __restrict__ inp, const float* __restrict__ weight,
                                          const float* __restrict__ bias, int N, int C) {
    using x128 = pack<float>;
    assert(blockDim.x == WARP);
    extern __shared__ char memory[];
    const int packs = C / x128::size;
    x128* of_weight = reinterpret_cast<x128*>(memory);
    x128* of_bias = of_weight + packs;
    x128* of_row = of_bias + packs * (1 + threadIdx.y);

    for (int p = threadIdx.y * WARP + threadIdx.x; p < packs; p += blockDim.y * WARP) {
        of_weight[p] = load(weight + p * x128::size);
        of_bias[p] = load(bias + p * x128::size);
    }
    __syncthreads();

    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= N) return;
    float sum = 0.0f, squares = 0.0f;
    for (int p = threadIdx.x; p < packs; p += WARP) {
        const x128 x = load_once(inp + row * C + p * x128::size);
        for (int k = 0; k < x128::size; ++k) sum += x[k];
        of_row[p] = x;
    }
    const float m = warp_sum(sum) / C;
    for (int p = threadIdx.x; p < packs; p += WARP) {
        for (int k = 0; k < x128::size; ++k) squares += (of_row[p][k] - m) * (of_row[p][k] - m);
    }
    const float s = rsqrtf(warp_sum(squares) / C + EPS);
    for (int p = threadIdx.x; p < packs; p += WARP) {
        x128 y;
        for (int k = 0; k < x128::size; ++k) y[k] = (of_row[p][k] - m) * s * of_weight[p][k] + of_bias[p][k];
        store_once(out + row * C + p * x128::size, y);
    }
    if (threadIdx.x == 0) {
        __stcs(mean + row, m);
        __stcs(rstd + row, s);
    }
}
