// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
out (BT, OC) = inp (BT, C) * transpose of weight (OC, C) + bias

1: a thread for each number
2: blocks of 128 x 128, threads of 8 x 8, four numbers at a time
*/
#include "common.h"
#include <assert.h>

__global__ void matmul_forward_kernel1(float* out, const float* inp, const float* weight, const float* bias, int BT, int C, int OC) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < BT && column < OC) {
        float sum = (bias != NULL) ? bias[column] : 0.0f;
        for (int c = 0; c < C; c++) {
            sum += inp[row * C + c] * weight[column * C + c];
        }
        out[row * OC + column] = sum;
    }
}

__device__ float4 ld_vec(const float* address) {
    return *reinterpret_cast<const float4*>(address);
}
__device__ void st_vec(float* address, float4 val) {
    *reinterpret_cast<float4*>(address) = val;
}

// blocks of 16 x 16 threads
__global__ void __launch_bounds__(16 * 16, 2) matmul_forward_kernel2(float* out, const float* inp, const float* weight,
                                                                     const float* bias, int C, int OC) {
    __shared__ float left[128][32];
    __shared__ float right[128][32];
    const int row = 8 * (threadIdx.x + blockIdx.x * blockDim.x);
    const int column = 8 * (threadIdx.y + blockIdx.y * blockDim.y);
    assert(blockDim.x == 16 && blockDim.y == 16);

    inp += 128 * blockIdx.x * C;
    weight += 128 * blockIdx.y * C;
    out += row * OC + column;

    float sums[8][8] = {};
    if (bias != NULL) {
        for (int i = 0; i < 8; i++) {
            for (int j = 0; j < 8; j += 4) {
                const float4 b = ld_vec(bias + column + j);
                sums[i][j + 0] = b.x;
                sums[i][j + 1] = b.y;
                sums[i][j + 2] = b.z;
                sums[i][j + 3] = b.w;
            }
        }
    }

    const int quad = 4 * (16 * threadIdx.y + threadIdx.x) % 32;
    for (int so = 0; so < C; so += 32) {
        __syncthreads();
        for (int y = threadIdx.y * 2 + threadIdx.x / 8; y < 128; y += 32) {
            st_vec(&left[y][quad], ld_vec(inp + y * C + so + quad));
            st_vec(&right[y][quad], ld_vec(weight + y * C + so + quad));
        }
        __syncthreads();
        for (int k = 4 * threadIdx.x; k < 4 * threadIdx.x + 32; k += 4) {
            float4 r[8];
            for (int j = 0; j < 8; ++j) r[j] = ld_vec(&right[j + 8 * threadIdx.y][k % 32]);
            for (int i = 0; i < 8; ++i) {
                const float4 l = ld_vec(&left[i + 8 * threadIdx.x][k % 32]);
                for (int j = 0; j < 8; ++j) {
                    sums[i][j] += l.x * r[j].x;
                    sums[i][j] += l.y * r[j].y;
                    sums[i][j] += l.z * r[j].z;
                    sums[i][j] += l.w * r[j].w;
                }
            }
        }
    }
    for (unsigned int i = 0; i < 8; ++i) {
        for (unsigned int j = 0; j < 8; j += 4) {
            st_vec(out + i * OC + j, make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]));
        }
    }
}
