// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
GELU by its approximation with tanh, forward and backward, in float and in bfloat16 by packs of 16 bytes.
*/
#include "common.h"
#include <assert.h>
#include <cuda_bf16.h>

#if defined(USE_FLOAT)
typedef float floatX;
#else
typedef __nv_bfloat16 floatX;
#endif
typedef pack<floatX> x128;

#define ROOT_2_PI sqrtf(2.0f / M_PI)
#define CUBIC 0.044715f

__global__ void gelu_forward_kernel1(float* out, const float* inp, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float x = inp[i];
    out[i] = 0.5f * x * (1.0f + tanhf(ROOT_2_PI * (x + CUBIC * x * x * x)));
}

__global__ void gelu_forward_kernel2(floatX* out, const floatX* inp, int N) {
    int at = x128::size * (blockDim.x * blockIdx.x + threadIdx.x);
    if (at >= N) return;
    x128 y;
    x128 x = load_once(inp + at);
    for (int k = 0; k < x.size; ++k) {
        const float v = (float)x[k];
        y[k] = (floatX)(0.5f * v * (1.0f + tanhf(ROOT_2_PI * (v + CUBIC * v * v * v))));
    }
    store(out + at, y);
}

__global__ void gelu_backward_kernel(floatX* dinp, const floatX* inp, const floatX* dout, const int N) {
    int at = x128::size * (blockDim.x * blockIdx.x + threadIdx.x);
    if (at >= N) return;
    x128 dx = x128::filled(__float2bfloat16(0.0f));
    const x128 x = load_once(inp + at), dy = load_once(dout + at);
    for (int k = 0; k < x128::size; ++k) {
        const float v = __bfloat162float(x[k]);
        const float t = tanhf(ROOT_2_PI * (v + CUBIC * v * v * v));
        const float inner = ROOT_2_PI * (1.0f + 3.0f * CUBIC * v * v);
        const float slope = 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * inner;
        dx[k] = __float2bfloat16(slope * __bfloat162float(dy[k]));
    }
    store(dinp + at, dx);
}
