// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

// The inputs of a convolution as columns: for each output position, kw*kh elements of each channel.
template <typename T>
static __global__ void im2col(const float * image, T * columns, const int64_t channels, const int64_t ih, const int64_t iw,
                              const int64_t kh, const int64_t kw, const int64_t oh, const int64_t ow,
                              const int stride, const int pad, const int dilation) {
    const int64_t i = threadIdx.x + (int64_t)blockIdx.x*blockDim.x;
    if (i >= channels*kh*kw) {
        return;
    }
    const int64_t kx = i % kw;
    const int64_t ky = i / kw % kh;
    const int64_t channel = i / (kw*kh);
    const int64_t ox = blockIdx.y;
    const int64_t oy = blockIdx.z % oh;
    const int64_t batch = blockIdx.z / oh;

    const int64_t x = ox*stride + kx*dilation - pad;
    const int64_t y = oy*stride + ky*dilation - pad;
    T * to = columns + ((batch*oh + oy)*ow + ox)*(channels*kh*kw) + i;
    if (x < 0 || y < 0 || x >= iw || y >= ih) {
        *to = 0.0f;
    } else {
        *to = image[((batch*channels + channel)*ih + y)*iw + x];
    }
}

enum pool_op { POOL_MAX, POOL_AVG, POOL_COUNT };

// a switch on a template parameter
template <pool_op op, typename Ti, typename To>
static __global__ void pool2d(const int ih, const int iw, const int oh, const int ow, const int k, const int s, const int p,
                              const int count, const Ti * src, To * dst) {
    const int i = threadIdx.x + blockIdx.x*blockDim.x;
    if (i >= count) {
        return;
    }
    const int plane = i / (oh*ow), oy = i % (oh*ow) / ow, ox = i % ow;
    const int y0 = max(oy*s - p, 0), y1 = min(oy*s - p + k, ih);
    const int x0 = max(ox*s - p, 0), x1 = min(ox*s - p + k, iw);
    To result = 0;
    switch (op) {
        case POOL_MAX: result = -FLT_MAX; break;
        case POOL_AVG: result = 0; break;
        default: assert(false);
    }
    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) {
#if __CUDA_ARCH__ >= 350
            const Ti v = __ldg(src + (plane*ih + y)*iw + x);
#else
            const Ti v = src[(plane*ih + y)*iw + x];
#endif
            switch (op) {
                case POOL_MAX: result = max(result, v); break;
                case POOL_AVG: result += v / (k*k); break;
                default: break;
            }
        }
    }
    dst[i] = result;
}
