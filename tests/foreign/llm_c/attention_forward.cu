// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Causal attention, forward: of inp (B, T, 3C), where each position has query, key and value, each of NH heads.

1: a thread for each score, for each row of the softmax, for each sum of values
2: heads sorted apart first, a warp for each row of the softmax, which ends at the diagonal; and back again
*/
#include "common.h"

__global__ void scores_kernel(float* scores, const float* inp, int B, int T, int C, int NH) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= B * NH * T * T) return;
    const int key = at % T, query = at / T % T, head = at / (T * T) % NH, batch = at / (T * T) / NH;
    if (key > query) {
        scores[at] = -INFINITY;  // a later key, which is masked
        return;
    }
    const int size = C / NH;
    const float* q = inp + (batch * T + query) * 3 * C + head * size;
    const float* k = inp + (batch * T + key) * 3 * C + C + head * size;
    float dot = 0.0f;
    for (int i = 0; i < size; i++) dot += q[i] * k[i];
    dot *= 1.0 / sqrtf(size);
    scores[at] = dot;
}

__global__ void rows_kernel(float* att, const float* scores, int rows, int T) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int end = row % T;
    scores += row * T;
    att += row * T;
    float top = -FLT_MAX, total = 0.0f;
    for (int i = 0; i <= end; i++) top = fmaxf(top, scores[i]);
    for (int i = 0; i <= end; i++) total += att[i] = expf(scores[i] - top);
    const float inverse = total == 0.0f ? 0.0f : 1.0f / total;
    for (int i = 0; i < T; i++) att[i] = i <= end ? att[i] * inverse : 0.0f;
}

__global__ void values_kernel(float* out, const float* att, const float* inp, int B, int T, int C, int NH) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= B * T * NH) return;
    const int head = at % NH, t = at / NH % T, batch = at / NH / T, size = C / NH;
    float* sums = out + (batch * T + t) * C + head * size;
    const float* weights = att + ((batch * NH + head) * T + t) * T;
    for (int i = 0; i < size; i++) sums[i] = 0.0f;
    for (int other = 0; other <= t; other++) {
        const float* v = inp + (batch * T + other) * 3 * C + 2 * C + head * size;
        for (int i = 0; i < size; i++) sums[i] += weights[other] * v[i];
    }
}

// (B, T, 3, NH, size) to three of (B, NH, T, size)
__global__ void sort_heads_kernel(float* q, float* k, float* v, const float* inp, int B, int T, int NH, int size) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < B * NH * T * size) {
        const int i = at % size, t = at / size % T, head = at / size / T % NH, batch = at / size / T / NH;
        inp += ((batch * T + t) * 3 * NH + head) * size + i;
        q[at] = __ldcs(inp);
        k[at] = __ldcs(inp + NH * size);
        v[at] = __ldcs(inp + 2 * NH * size);
    }
}

// In one pass, four elements at a time. The longest rows come first.
__global__ void rows_online_kernel(float* att, float scale, const float* scores, int rows, int T) {
    const int lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    const int row = (gridDim.x - 1 - blockIdx.x) * warps + threadIdx.x / WARP;
    if (row >= rows) return;
    const int end = row % T, fours = end / 4;
    scores += row * T;
    att += row * T;

    float top = -FLT_MAX, total = 0.0f;
    for (int f = lane; f < fours; f += WARP) {
        float four[4];
        *reinterpret_cast<float4*>(four) = reinterpret_cast<const float4*>(scores)[f];
        const float before = top;
        for (int k = 0; k < 4; ++k) top = fmaxf(top, four[k]);
        total *= expf(scale * (before - top));
        for (int k = 0; k < 4; ++k) total += expf(scale * (four[k] - top));
    }
    if (int i = 4 * fours + lane; i <= end) {
        const float before = top;
        top = fmaxf(top, scores[i]);
        total = total * expf(scale * (before - top)) + expf(scale * (scores[i] - top));
    }
    const float of_all = warp_max(top);
    const float inverse = 1.f / warp_sum(total * expf(scale * (top - of_all)));
    for (int i = lane; i <= end; i += WARP) {
        __stcs(att + i, expf(scale * (__ldcs(scores + i) - of_all)) * inverse);
    }
}

__global__ void join_heads_kernel(float* from, float* out, int B, int T, int NH, int size) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= B * NH * T * size) return;
    const int i = at % size, t = at / size % T, head = at / size / T % NH, batch = at / size / T / NH;
    out[((batch * T + t) * NH + head) * size + i] = __ldcs(&from[at]);
}
