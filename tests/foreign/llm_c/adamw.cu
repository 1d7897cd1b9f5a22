// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Optimiser step of a language model, decoupled weight decay.

adamw_kernel1: as in the paper
adamw_kernel2: one load and one store for each moment, interpolations by our own lerp

Usage: ./adamw [kernel]
*/
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <cuda_runtime.h>

// a + w (b - a), in two fused steps
__device__ inline float lerp(float a, float b, float w) {
    return fma(w, b, fma(-w, a, a));
}

__global__ void adamw_kernel1(float* params, const float* grads, float* m, float* v, long n,
                              float lr, float beta1, float beta2, float corr1, float corr2, float eps, float decay) {
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    m[at] = beta1 * m[at] + (1.0f - beta1) * grads[at];
    v[at] = beta2 * v[at] + (1.0f - beta2) * grads[at] * grads[at];
    float mhat = m[at] / corr1;
    float vhat = v[at] / corr2;
    params[at] -= lr * (mhat / (sqrtf(vhat) + eps) + decay * params[at]);
}

__global__ void adamw_kernel2(float* params, const float* grads, float* m, float* v, long n,
                              float lr, float beta1, float beta2, float corr1, float corr2, float eps, float decay) {
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    float g = grads[at];
    float first = lerp(g, m[at], beta1);
    float second = lerp(g * g, v[at], beta2);
    m[at] = first;
    v[at] = second;
    first /= corr1;
    second /= corr2;
    params[at] -= lr * (first / (sqrtf(second) + eps) + decay * params[at]);
}

// ----------------------------------------------------------------------------
// launcher

void adamw(int which, float* params, const float* grads, float* m, float* v, long n, int step, float lr) {
    const int threads = 512;
    const int grid = (int)((n + threads - 1) / threads);
    float corr1 = 1.0f - powf(0.9f, (float)step), corr2 = 1.0f - powf(0.999f, (float)step);
    if (which == 1) adamw_kernel1<<<grid, threads>>>(params, grads, m, v, n, lr, 0.9f, 0.999f, corr1, corr2, 1e-8f, 0.1f);
    else adamw_kernel2<<<grid, threads>>>(params, grads, m, v, n, lr, 0.9f, 0.999f, corr1, corr2, 1e-8f, 0.1f);
}
