// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define GPU
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// Adds one layer's output to another's of another size: the common part, with steps between the elements of the larger one.
__device__ static int at(int b, int c, int y, int x, int of_c, int of_h, int of_w)
{
    return ((b*of_c + c)*of_h + y)*of_w + x;
}

__global__ void shortcut_kernel(int size, int minw, int minh, int minc, int stride, int sample, int batch, int w1, int h1, int c1, float *add, int w2, int h2, int c2, float s1, float s2, float *out)
{
    int me = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if (me >= size) return;
    int x = me % minw, y = me / minw % minh, c = me / (minw*minh) % minc, b = me / (minw*minh*minc);

    float *to = out + at(b, c, y*sample, x*sample, c2, h2, w2);
    *to *= s1;
    *to += s2*add[at(b, c, y*stride, x*stride, c1, h1, w1)];
}

// Host code
static int smaller(int a, int b) { return a < b ? a : b; }
static int at_least_1(int a) { return a < 1 ? 1 : a; }

extern "C" void shortcut_gpu(int batch, int w1, int h1, int c1, float *add, int w2, int h2, int c2, float s1, float s2, float *out)
{
    const int w = smaller(w1, w2), h = smaller(h1, h2), c = smaller(c1, c2), size = batch*w*h*c;
    shortcut_kernel<<<cuda_gridsize(size), BLOCK>>>(size, w, h, c, at_least_1(w1/w2), at_least_1(w2/w1), batch, w1, h1, c1, add, w2, h2, c2, s1, s2, out);
    check_error(cudaPeekAtLastError());
}
