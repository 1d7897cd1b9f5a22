// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
The sum of the squares of all gradients, before they are clipped.

1: blocks add with atomics
2: warps shuffle through cooperative groups, over slices of the tensors: grids of {blocks, slices}
3: deterministic: sums of blocks first, then one block
*/
#include "common.h"
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

template<class T>
__device__ float squares_of(const T* data, size_t count) {
    size_t index = blockIdx.x * blockDim.x + threadIdx.x;
    size_t grid_width = blockDim.x * gridDim.x;
    float sum = 0.f;
    for (size_t i = index; i < count; i += grid_width) {
        sum += (float)data[i] * (float)data[i];
    }
    return of_block<warp_sum>(sum);
}

template<class T>
__global__ void norm_kernel1(float* out, const T* data, size_t count) {
    float sum = squares_of(data, count);
    if (threadIdx.x == 0) {
        atomicAdd(out, sum);
    }
}

template<class T>
__global__ void norm_kernel2(float* out, const T* data, size_t count, ptrdiff_t stride) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ float of_warps[32];
    data += blockIdx.y * stride;
    float sum = 0.f;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) sum += (float)(data[i] * data[i]);
    of_warps[warp.meta_group_rank()] = cg::reduce(warp, sum, cg::plus<float>{});
    block.sync();
    sum = warp.thread_rank() < warp.meta_group_size() ? of_warps[warp.thread_rank()] : 0.f;
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    if (block.thread_rank() == 0) atomicAdd(out, sum);
}

template<class T>
__global__ void norm_kernel3(float* out, const T* data, size_t count) {
    const float sum = squares_of(data, count);
    if (threadIdx.x == 0) { out[blockIdx.x] = sum; }
}
// one block
__global__ void add_up(float* out, size_t parts) {
    const float sum = of_block<warp_sum>(threadIdx.x < parts ? out[threadIdx.x] : 0.f);
    if (threadIdx.x == 0) { *out = sum; }
}
