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

#define GELU_FACTOR sqrtf(2.0f / M_PI)

__global__ void gelu_forward_kernel1(float* out, const float* inp, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float factor = sqrtf(2.0f / (float)M_PI);
    if (i < N) {
        float x = inp[i];
        float inner = factor * (x + 0.044715f * x * x * x);
        out[i] = 0.5f * x * (1.0f + tanhf(inner));
    }
}

__global__ void gelu_forward_kernel2(floatX* out, const floatX* inp, int N) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * x128::size;
    if (i < N) {
        x128 y;
        x128 x = load_once(inp + i);
        for (int k = 0; k < x.size; ++k) {
            float xk = (float)x[k];
            float inner = GELU_FACTOR * (xk + 0.044715f * xk * xk * xk);
            y[k] = (floatX)(0.5f * xk * (1.0f + tanhf(inner)));
        }
        store(out + i, y);
    }
}

__global__ void gelu_backward_kernel(floatX* dinp, const floatX* inp, const floatX* dout, const int N) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * x128::size;
    if (i >= N) { return; }
    x128 dx = x128::filled(__float2bfloat16(0.0f));
    const x128 x = load_once(inp + i), dy = load_once(dout + i);
    for (int k = 0; k < x128::size; ++k) {
        const float v = __bfloat162float(x[k]), cube = 0.044715f * v * v * v;
        const float t = tanhf(GELU_FACTOR * (v + cube));
        const float c = coshf(GELU_FACTOR * (v + cube));
        const float slope = 0.5f * (1.0f + t) + v * 0.5f / (c * c) * GELU_FACTOR * (1.0f + 3.0f * 0.044715f * v * v);
        dx[k] = __float2bfloat16(slope * __bfloat162float(dy[k]));
    }
    store(dinp + i, dx);
}
