// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Backward pass of the causal softmax: datt and att are (rows, T), where row t of each head ends at t.

1: a thread for each number, which makes the sum over its row again
2: a block for each row, sums by warps and shared memory, with a variable block size as a template parameter
*/
#include "common.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void softmax_backward_kernel1(float* dpreatt, const float* datt, const float* att, int rows, int T, float scale) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (column >= T) return;
    const int end = row % T;
    float sum = 0.0f;
    for (int i = 0; i <= end; i++) {
        const float indicator = i == column ? 1.0f : 0.0f;
        sum += att[row * T + i] * (indicator - att[row * T + column]) * datt[row * T + i];
    }
    dpreatt[row * T + column] = column <= end ? scale * sum : 0.0f;
}

template<int BlockSize>
__global__ void softmax_backward_kernel2(float* dpreatt, const float* datt, const float* att, int rows, int T, float scale) {
    static_assert(BlockSize % 32 == 0);
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ float of_warps[32];

    const size_t first = (size_t)blockIdx.x * T;
    const int end = blockIdx.x % T;
    float mine = 0.0f;
    for (int i = block.thread_rank(); i <= end; i += BlockSize) mine += att[first + i] * datt[first + i];
    of_warps[warp.meta_group_rank()] = cg::reduce(warp, mine, cg::plus<float>{});
    block.sync();
    const float other = warp.thread_rank() < warp.meta_group_size() ? of_warps[warp.thread_rank()] : 0.0f;
    const float sum = cg::reduce(warp, other, cg::plus<float>{});

    for (int i = block.thread_rank(); i < T; i += BlockSize) {
        const float d = i <= end ? scale * __ldcs(att + first + i) * (__ldcs(datt + first + i) - sum) : 0.0f;
        __stcs(dpreatt + first + i, d);
    }
}
