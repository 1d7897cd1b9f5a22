// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

// Functions of one number, as template parameters of one kernel.
static __device__ __forceinline__ float op_silu(float x) {
    return x / (1.0f + expf(-x));
}
static __device__ __forceinline__ float op_gelu(float x) {
    const float c = 0.79788456080286535587989211986876f;
    return 0.5f*x*(1.0f + tanhf(c*x*(1.0f + 0.044715f*x*x)));
}
static __device__ __forceinline__ float op_hardswish(float x) {
    return x * fminf(1.0f, fmaxf(0.0f, (x + 3.0f) / 6.0f));
}
static __device__ __forceinline__ float op_step(float x) {
    return x > 0.0f;
}

template <float (*op)(float), typename T>
static __global__ void unary_op_kernel(const T * x, T * dst, const int k) {
    const int i = blockDim.x*blockIdx.x + threadIdx.x;
    if (i >= k) {
        return;
    }
    dst[i] = (T) op((float) x[i]);
}

// silu of one half of each row times the other half
static __global__ void swiglu(const half2 * x, half2 * dst, const int n) {
    const int row = blockIdx.y, i = blockDim.x*blockIdx.x + threadIdx.x;
    if (i < n) {
        const float2 a = __half22float2(x[2*n*row + i]);
        const half2 gate = __floats2half2_rn(op_silu(a.x), op_silu(a.y));
        dst[n*row + i] = __hmul2(gate, x[2*n*row + n + i]);
    }
}

// masks the upper triangle of each head
static __global__ void diag_mask_inf_f32(const float * x, float * dst, const int ncols, const int rows_per_channel, const int n_past) {
    const int col = blockDim.y*blockIdx.y + threadIdx.y;
    const int row = blockDim.x*blockIdx.x + threadIdx.x;
    if (col >= ncols) {
        return;
    }
    const int i = row*ncols + col;
    dst[i] = x[i] - (col > n_past + row % rows_per_channel) * FLT_MAX;
}
