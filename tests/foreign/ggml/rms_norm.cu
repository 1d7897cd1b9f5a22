// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

// Rows divided by their root mean square; times a weight for each column if weighted.
template <int threads, bool weighted = false>
static __global__ void rms_norm(const float * x, float * dst, const int ncols, const int64_t row_stride, const float eps,
                                const float * weights) {
    x   += blockIdx.x*row_stride;
    dst += blockIdx.x*ncols;

    float squares = 0.0f;
    for (int col = threadIdx.x; col < ncols; col += threads) {
        squares += x[col]*x[col];
    }
    squares = warp_all<op_add>(squares);

    if constexpr (threads > WARP_SIZE) {
        static_assert(threads % WARP_SIZE == 0 && threads <= 1024, "no such block");
        static __shared__ float of_warps[WARP_SIZE];
        const int warp = threadIdx.x / WARP_SIZE;
        const int lane = threadIdx.x % WARP_SIZE;
        if (lane == 0) {
            of_warps[warp] = squares;
        }
        __syncthreads();
        squares = warp_all<op_add>(lane < threads / WARP_SIZE ? of_warps[lane] : 0.0f);
    }

    const float scale = rsqrtf(squares/ncols + eps);
    for (int col = threadIdx.x; col < ncols; col += threads) {
        if constexpr (weighted) {
            dst[col] = scale*x[col]*weights[col];
        } else {
            dst[col] = scale*x[col];
        }
    }
    if constexpr (!weighted) {
        UNUSED(weights);
    }
}

// Mean and variance at once: a warp for each row.
static __global__ void norm_f32(const float * x, float * dst, const int ncols, const float eps) {
    const int row = blockIdx.x*blockDim.y + threadIdx.y;
    x   += row*ncols;
    dst += row*ncols;

    float2 both = make_float2(0.0f, 0.0f);
    for (int col = threadIdx.x; col < ncols; col += WARP_SIZE) {
        both.x += x[col];
        both.y += x[col]*x[col];
    }
    both = warp_all<op_add>(both);
    const float mean = both.x/ncols;
    const float scale = rsqrtf(both.y/ncols - mean*mean + eps);
    for (int col = threadIdx.x; col < ncols; col += WARP_SIZE) {
        dst[col] = (x[col] - mean)*scale;
    }
}
