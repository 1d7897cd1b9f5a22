// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Embeddings, forward: each position gets the row of its token plus the row of its place.

1: a thread for each position
2: a thread for each number
3: a thread for 16 bytes

Usage: ./encoder_forward 3
*/
#include "common.h"
#include <assert.h>

typedef pack<float> x128;

__global__ void encoder_forward_kernel1(float* out, const int* tokens, const float* wte, const float* wpe, int B, int T, int C) {
    int position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position < B * T) {
        const float* token_row = wte + tokens[position] * C;
        const float* place_row = wpe + (position % T) * C;
        float* row = out + position * C;
        for (int c = 0; c < C; c++) {
            row[c] = token_row[c] + place_row[c];
        }
    }
}

__global__ void encoder_forward_kernel2(float* out, const int* tokens, const float* wte, const float* wpe, int B, int T, int C) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= B * T * C) { return; }
    const int position = at / C, c = at % C;
    out[at] = wte[tokens[position] * C + c] + wpe[position % T * C + c];
}

__global__ void encoder_forward_kernel3(float* out, const int* tokens, const float* wte, const float* wpe, int B, int T, int C) {
    assert(C % x128::size == 0);
    int at = x128::size * (blockIdx.x * blockDim.x + threadIdx.x);
    if (at < B * T * C) {
        const int position = at / C, c = at % C;
        x128 sum;
        const x128 of_token = load_once(wte + tokens[position] * C + c);
        const x128 of_place = load_once(wpe + (position % T) * C + c);
        #pragma unroll x128::size
        for (int k = 0; k < x128::size; k++) {
            sum[k] = of_token[k] + of_place[k];
        }
        store(out + at, sum);
    }
}
