// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
residual = a + b and its layer norm in one kernel: a warp for each row. Choices are types, so that the launcher can pick them:
std::bool_constant as parameters without a name.
*/
#include <type_traits>
#include "common.h"

template<typename T, bool KeepMoments>
__global__ void fused_residual_forward(T* residual, T* normed, float* mean, float* rstd, const T* a, const T* b, const T* weight,
                                       const T* bias, int N, int C, std::bool_constant<KeepMoments>) {
    using x128 = pack<T>;
    constexpr int step = WARP * x128::size;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= N) { return; }
    residual += row * C;
    normed += row * C;
    a += row * C;
    b += row * C;

    float sum = 0.0f;
    for (int c = threadIdx.x * x128::size; c < C; c += step) {
        const x128 x = load_once(a + c), y = load_once(b + c);
        x128 z;
        for (int k = 0; k < x128::size; ++k) {
            z[k] = x[k] + y[k];
            sum += (float)z[k];
        }
        store(residual + c, z);
    }
    const float m = warp_sum(sum) / C;
    float v = 0.0f;
    for (int c = threadIdx.x * x128::size; c < C; c += step) {
        const x128 z = load(residual + c);
        for (int k = 0; k < x128::size; ++k) { v += ((float)z[k] - m) * ((float)z[k] - m); }
    }
    const float s = rsqrtf(warp_sum(v) / C + 1e-5f);
    for (int c = threadIdx.x * x128::size; c < C; c += step) {
        const x128 z = load(residual + c), w = load(weight + c), o = load(bias + c);
        x128 y;
        for (int k = 0; k < x128::size; ++k) { y[k] = (T)(s * ((float)z[k] - m) * (float)w[k] + (float)o[k]); }
        store_once(normed + c, y);
    }
    if constexpr (KeepMoments) {
        if (threadIdx.x == 0) {
            mean[row] = m;
            rstd[row] = s;
        }
    }
}

template<typename T>
void launch_fused_residual(T* residual, T* normed, float* mean, float* rstd, const T* a, const T* b, const T* weight, const T* bias,
                           int N, int C, cudaStream_t stream) {
    const dim3 threads(WARP, 4);
    const int grid = divide_up(N, 4);
    if (mean != nullptr) {
        fused_residual_forward<<<grid, threads, 0, stream>>>(residual, normed, mean, rstd, a, b, weight, bias, N, C, std::true_type{});
    } else {
        fused_residual_forward<<<grid, threads, 0, stream>>>(residual, normed, mean, rstd, a, b, weight, bias, N, C, std::false_type{});
    }
}
