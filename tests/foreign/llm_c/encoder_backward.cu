// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Embeddings, backward.

1: a thread for each number; a token that comes twice is why there are atomics
2: a thread for each column, which walks along all positions: slow, but the same sums in each run
*/
#include "common.h"

__global__ void encoder_backward_kernel1(float* dwte, float* dwpe, const float* dout, const int* tokens, int B, int T, int C) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < B * T * C) {
        const float gradient = dout[at];
        const int c = at % C, position = at / C;
        atomicAdd(dwte + tokens[position] * C + c, gradient);
        atomicAdd(&dwpe[(position % T) * C + c], gradient);
    }
}

__global__ void encoder_backward_kernel2(float* dwte, float* dwpe, const float* dout, const int* tokens, int B, int T, int C) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= C) { return; }
    dout += column;
    for (int b = 0; b < B; ++b) {
        for (int t = 0; t < T; ++t, ++tokens, dout += C) {
            dwte[*tokens * C + column] += *dout;
            dwpe[t * C + column] += *dout;
        }
    }
}
