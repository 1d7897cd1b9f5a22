// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"
#include "quants.cuh"

// four products of bytes, and their sum
static __device__ __forceinline__ int dot4(const int a, const int b, const int c) {
#if __CUDA_ARCH__ >= 610
    return __dp4a(a, b, c);
#else
    const char4 & x = reinterpret_cast<const char4 &>(a);
    const char4 & y = reinterpret_cast<const char4 &>(b);
    return c + x.x*y.x + x.y*y.y + x.z*y.z + x.w*y.w;
#endif
}

// blocks of 4 bits are aligned to 2 bytes only
static __device__ __forceinline__ int word_of(const uint8_t * bytes, const int i) {
    const uint16_t * halves = (const uint16_t *) bytes;
    return halves[2*i] | (int) halves[2*i + 1] << 16;
}
static __device__ __forceinline__ int word_of(const int8_t * bytes, const int i) {
    return ((const int *) bytes)[i];
}

// Words i to i + words of a block of the matrix and of the vector. The offset of the quants, 8, is subtracted at the end.
template <int words>
static __device__ __forceinline__ float dot(const q4_block * m, const q8_block * v, const int i) {
    int products = 0;
#pragma unroll
    for (int w = i; w < i + words; ++w) {
        const int both = word_of(m->quants, w);
        products = dot4(both      & 0x0F0F0F0F, word_of(v->quants, w), products);
        products = dot4(both >> 4 & 0x0F0F0F0F, word_of(v->quants, w + 4), products);
    }
    const float2 scale_sum = __half22float2(v->scale_sum);
    return __half2float(m->scale) * (products*scale_sum.x - 8.0f*words/4*scale_sum.y);
}

// a block for each row, of {32, warps} threads
template <int warps, int words>
#if defined(__CUDA_ARCH__)
__launch_bounds__(warps*WARP_SIZE, 1)
#endif
static __global__ void mul_mat_vec_q(const void * __restrict__ matrix, const void * __restrict__ vector, float * __restrict__ dst,
                                     const int ncols) {
    constexpr int threads_per_block = 4/words;
    const int blocks = ncols / PER_BLOCK;
    const int tid = WARP_SIZE*threadIdx.y + threadIdx.x;
    const q4_block * m = (const q4_block *) matrix + (int64_t)blockIdx.x*blocks;
    const q8_block * v = (const q8_block *) vector;

    float sum = 0.0f;
    for (int b = tid / threads_per_block; b < blocks; b += warps*WARP_SIZE / threads_per_block) {
        sum += dot<words>(m + b, v + b, words*(tid % threads_per_block));
    }

    __shared__ float of_others[warps > 1 ? warps - 1 : 1][WARP_SIZE];
    if (threadIdx.y > 0) {
        of_others[threadIdx.y - 1][threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.y > 0) {
        return; // only one warp continues, with shuffles
    }
#pragma unroll
    for (int w = 0; w < warps - 1; ++w) {
        sum += of_others[w][threadIdx.x];
    }
    sum = warp_all<op_add>(sum);
    if (threadIdx.x == 0) {
        dst[blockIdx.x] = sum;
    }
}
