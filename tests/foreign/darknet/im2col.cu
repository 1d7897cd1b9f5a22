// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_runtime.h"

extern "C" {
#include "darknet.h"
}

// Patches of an image as columns of a matrix, and the sums of the columns back in an image. A grid-stride loop.

__global__ void im2col_kernel(const int n, const float* image,
        const int height, const int width, const int ksize,
        const int pad, const int stride,
        const int height_col, const int width_col,
        float *columns) {
    int index = blockIdx.x*blockDim.x+threadIdx.x;
    for(; index < n; index += blockDim.x*gridDim.x){
        int w_out = index % width_col;
        int h_out = (index / width_col) % height_col;
        int channel = index / width_col / height_col;
        int h_in = h_out * stride - pad;
        int w_in = w_out * stride - pad;
        float* to = columns + (channel * ksize * ksize * height_col + h_out) * width_col + w_out;
        const float* from = image + (channel * height + h_in) * width + w_in;
        for (int i = 0; i < ksize; ++i) {
            for (int j = 0; j < ksize; ++j) {
                int h = h_in + i;
                int w = w_in + j;
                *to = (h >= 0 && w >= 0 && h < height && w < width) ? from[i * width + j] : 0;
                to += height_col * width_col;
            }
        }
    }
}

__global__ void col2im_kernel(const int n, const float* columns,
        const int height, const int width, const int ksize,
        const int pad, const int stride,
        const int height_col, const int width_col,
        float *image) {
    int index = blockIdx.x*blockDim.x+threadIdx.x;
    for(; index < n; index += blockDim.x*gridDim.x){
        float val = 0;
        int w = index % width + pad;
        int h = (index / width) % height + pad;
        int c = index / (width * height);
        int w_first = (w < ksize) ? 0 : (w - ksize) / stride + 1;
        int w_last = min(w / stride + 1, width_col);
        int h_first = (h < ksize) ? 0 : (h - ksize) / stride + 1;
        int h_last = min(h / stride + 1, height_col);
        for (int y = h_first; y < h_last; ++y)
            for (int x = w_first; x < w_last; ++x) {
                int k = (c * ksize + h - y * stride) * ksize + w - x * stride;
                val += columns[(k * height_col + y) * width_col + x];
            }
        image[index] += val;
    }
}
