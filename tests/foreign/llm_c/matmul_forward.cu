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

__device__ const float4& four(const float* at) {
    return *reinterpret_cast<const float4*>(at);
}
__device__ float4& four(float* at) {
    return *reinterpret_cast<float4*>(at);
}

#define TILE 128
#define DEPTH 32

// blocks of 16 x 16 threads, of which each has 8 x 8 results
__global__ void __launch_bounds__(16 * 16, 2) matmul_forward_kernel2(float* out, const float* inp, const float* weight,
                                                                     const float* bias, int C, int OC) {
    assert(blockDim.x == 16 && blockDim.y == 16 && C % DEPTH == 0);
    __shared__ float rows[TILE][DEPTH];
    __shared__ float columns[TILE][DEPTH];
    const int thread = threadIdx.y * 16 + threadIdx.x;
    inp += TILE * blockIdx.x * C;
    weight += TILE * blockIdx.y * C;
    out += (TILE * blockIdx.x + 8 * threadIdx.x) * OC + TILE * blockIdx.y + 8 * threadIdx.y;

    float sums[8][8] = {};
    if (bias != NULL) {
        bias += TILE * blockIdx.y + 8 * threadIdx.y;
        for (auto& row : sums) {
            four(&row[0]) = four(bias);
            four(&row[4]) = four(bias + 4);
        }
    }

    for (int from = 0; from < C; from += DEPTH) {
        __syncthreads();
        // eight threads for each row of the tile
        for (int y = thread / 8; y < TILE; y += 32) {
            four(&rows[y][thread % 8 * 4]) = four(inp + y * C + from + thread % 8 * 4);
            four(&columns[y][thread % 8 * 4]) = four(weight + y * C + from + thread % 8 * 4);
        }
        __syncthreads();
        // threads begin at different columns, to avoid bank conflicts
        for (int step = 0; step < DEPTH; step += 4) {
            const int k = (step + 4 * threadIdx.x) % DEPTH;
            float4 right[8];
            for (int j = 0; j < 8; ++j) right[j] = four(&columns[8 * threadIdx.y + j][k]);
            for (int i = 0; i < 8; ++i) {
                const float4 left = four(&rows[8 * threadIdx.x + i][k]);
                for (int j = 0; j < 8; ++j) {
                    sums[i][j] += left.x * right[j].x + left.y * right[j].y + left.z * right[j].z + left.w * right[j].w;
                }
            }
        }
    }
    for (unsigned int i = 0; i < 8; ++i) {
        for (unsigned int j = 0; j < 8; j += 4) {
            four(out + i * OC + j) = make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
        }
    }
}
