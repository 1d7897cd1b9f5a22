// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define GPU
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// One layer's output is added to that of another, of another size: what they have in common, with samples left out or far apart.
__global__ void shortcut_kernel(int size, int minw, int minh, int minc, int stride, int sample, int batch, int w1, int h1, int c1, float *add, int w2, int h2, int c2, float s1, float s2, float *out)
{
    int id = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if (id >= size) return;
    int x = id % minw;
    id /= minw;
    int y = id % minh;
    id /= minh;
    int channel = id % minc;
    id /= minc;
    int b = id % batch;

    int to = x*sample + w2*(y*sample + h2*(channel + c2*b));
    int from = x*stride + w1*(y*stride + h1*(channel + c1*b));
    out[to] = s1*out[to] + s2*add[from];
}

// Host code
extern "C" void shortcut_gpu(int batch, int w1, int h1, int c1, float *add, int w2, int h2, int c2, float s1, float s2, float *out)
{
    int minw = (w1 < w2) ? w1 : w2;
    int minh = (h1 < h2) ? h1 : h2;
    int minc = (c1 < c2) ? c1 : c2;

    int stride = w1/w2;
    int sample = w2/w1;
    if(stride < 1) stride = 1;
    if(sample < 1) sample = 1;

    int size = batch * minw * minh * minc;
    shortcut_kernel<<<cuda_gridsize(size), BLOCK>>>(size, minw, minh, minc, stride, sample, batch, w1, h1, c1, add, w2, h2, c2, s1, s2, out);
    check_error(cudaPeekAtLastError());
}
