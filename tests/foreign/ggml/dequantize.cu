// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"
#include "quants.cuh"

// reads two elements of a block of any format
typedef void (*reader)(const void * from, const int64_t block, const int j, float2 & v);

static __device__ __forceinline__ void read_q4(const void * from, const int64_t block, const int j, float2 & v) {
    const q4_block & b = ((const q4_block *) from)[block];
    const float scale = b.scale;
    v.x = ((b.quants[j] & 0xF) - 8.0f) * scale;
    v.y = ((b.quants[j] >>  4) - 8.0f) * scale;
}

static __device__ __forceinline__ void read_q8(const void * from, const int64_t block, const int j, float2 & v) {
    const q8_block & b = ((const q8_block *) from)[block];
    const float scale = __low2float(b.scale_sum);
    v.x = b.quants[j] * scale;
    v.y = b.quants[j + PER_BLOCK/2] * scale;
}

template <typename T>
static __device__ __forceinline__ T rounded(const float v) {
    if constexpr (std::is_same_v<T, half>) {
        return __float2half(v);
    } else {
        return v;
    }
}

template <reader read, typename T>
static __global__ void dequantize(const void * __restrict__ from, T * __restrict__ to, const int64_t pairs) {
    const int64_t i = (int64_t)blockDim.x*blockIdx.x + threadIdx.x;
    if (i >= pairs) {
        return;
    }
    const int64_t block = i / (PER_BLOCK/2);
    const int j = i % (PER_BLOCK/2);
    float2 v;
    read(from, block, j, v);
    to[block*PER_BLOCK + j]               = rounded<T>(v.x);
    to[block*PER_BLOCK + j + PER_BLOCK/2] = rounded<T>(v.y);
}
