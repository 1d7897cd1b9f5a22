// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
The lower triangle of Q K^T * scale for causal attention: what lies above it is never read, so blocks there leave at once.

trimul_naive:  a thread for each number
trimul_blocks: pointers moved to the block's tile, registers of 4 x 4, a function as a template parameter
*/
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

typedef void (*tile_fn)(float* p, int ps, const float* k, int ks, const float* q, int qs, int T, int hs, float alpha);

__global__ void trimul_naive(float* p, int ps, const float* k, int ks, const float* q, int qs, int T, int hs, float alpha) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;  // key
    const int y = blockIdx.y * blockDim.y + threadIdx.y;  // query
    if (x >= T || y >= T || x > y) return;
    float sum = 0.0f;
    for (int i = 0; i < hs; ++i) sum += q[y * qs + i] * k[x * ks + i];
    p[y * ps + x] = alpha * sum;
}

__device__ void tile_registers(float* p, int ps, const float* k, int ks, const float* q, int qs, int T, int hs, float alpha) {
    const int x = 4 * threadIdx.x + 64 * blockIdx.x, y = 4 * threadIdx.y + 64 * blockIdx.y;
    k += x * ks;
    q += y * qs;
    float sums[4][4] = {};
    for (int i = 0; i < hs; ++i) {
        float a[4], b[4];
        for (int r = 0; r < 4; ++r) {
            a[r] = q[r * qs + i];
            b[r] = k[r * ks + i];
        }
        for (int r = 0; r < 4; ++r) for (int c = 0; c < 4; ++c) sums[r][c] += a[r] * b[c];
    }
    for (int r = 0; r < 4; ++r) for (int c = 0; c < 4; ++c) p[(y + r) * ps + x + c] = sums[r][c] * alpha;
}

__device__ void tile_shared(float* p, int ps, const float* k, int ks, const float* q, int qs, int T, int hs, float alpha) {
    p += 64 * blockIdx.y * ps + 64 * blockIdx.x;
    q += 64 * blockIdx.y * qs;
    k += 64 * blockIdx.x * ks;
    __shared__ float lhs[64][32];
    __shared__ float rhs[64][32];
    float sums[4][4] = {};
    for (int from = 0; from < hs; from += 32) {
        __syncthreads();
        for (int y = threadIdx.y / 2; y < 64; y += 8) {
            const int x = (threadIdx.y % 2) * 16 + threadIdx.x;
            lhs[y][x] = q[y * qs + x + from];
            rhs[y][x] = k[y * ks + x + from];
        }
        __syncthreads();
        for (int i = 0; i < 32; ++i) {
            // each thread begins at another index: fewer bank conflicts
            const int at = (i + threadIdx.x) % 32;
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sums[r][c] += lhs[4 * threadIdx.y + r][at] * rhs[4 * threadIdx.x + c][at];
        }
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; c += 4)
            *reinterpret_cast<float4*>(p + (4 * threadIdx.y + r) * ps + 4 * threadIdx.x + c) =
                make_float4(alpha * sums[r][c], alpha * sums[r][c + 1], alpha * sums[r][c + 2], alpha * sums[r][c + 3]);
}

template<tile_fn tile>
__global__ void __launch_bounds__(256, 2) trimul_blocks(float* p, int ps, const float* k, int ks, const float* q, int qs,
                                                        int T, int hs, float alpha) {
    if (blockIdx.y < blockIdx.x) return;  // the whole block is above the diagonal
    tile(p, ps, k, ks, q, qs, T, hs, alpha);
}
