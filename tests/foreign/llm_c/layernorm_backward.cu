// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Layer norm, backward.

1: a thread for each row, atomics in global memory
2: a warp for each row, atomics in shared memory first
*/
#include "common.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void layernorm_backward_kernel1(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp,
                                           const float* weight, const float* mean, const float* rstd, int N, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    dout += row * C;
    inp += row * C;
    dinp += row * C;
    float average = 0.0f, along = 0.0f;
    for (int c = 0; c < C; c++) {
        float d = weight[c] * dout[c];
        average += d;
        along += d * (inp[c] - mean[row]) * rstd[row];
    }
    average /= C;
    along /= C;
    for (int c = 0; c < C; c++) {
        float normed = (inp[c] - mean[row]) * rstd[row];
        atomicAdd(&dbias[c], dout[c]);
        atomicAdd(&dweight[c], normed * dout[c]);
        dinp[c] += rstd[row] * (weight[c] * dout[c] - average - normed * along);
    }
}

__global__ void layernorm_backward_kernel2(float* __restrict__ dinp, float* __restrict__ dweight, float* __restrict__ dbias,
                                           const float* __restrict__ dout, const float* __restrict__ inp,
                                           const float* __restrict__ weight, const float* __restrict__ mean,
                                           const float* __restrict__ rstd, int N, int C) {
    namespace cg = cooperative_groups;
    extern __shared__ float sums[];  // of bias, then of weight
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);

    #pragma unroll 4
    for (int i = threadIdx.x; i < 2 * C; i += blockDim.x) sums[i] = 0.0f;
    block.sync();

    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row < N) {
        dout += row * C;
        inp += row * C;
        dinp += row * C;
        const float m = mean[row], s = rstd[row];
        float average = 0.0f, along = 0.0f;
        for (int c = warp.thread_rank(); c < C; c += warp.size()) {
            const float d = weight[c] * dout[c];
            average += d;
            along += d * (inp[c] - m) * s;
        }
        average = cg::reduce(warp, average, cg::plus<float>{}) / C;
        along = cg::reduce(warp, along, cg::plus<float>{}) / C;
        for (int c = warp.thread_rank(); c < C; c += warp.size()) {
            const float normed = (inp[c] - m) * s;
            atomicAdd(sums + c, dout[c]);
            atomicAdd(sums + C + c, normed * dout[c]);
            dinp[c] += s * (weight[c] * dout[c] - average - normed * along);
        }
    }
    block.sync();

    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        atomicAdd(dbias + c, sums[c]);
        atomicAdd(dweight + c, sums[C + c]);
    }
}
