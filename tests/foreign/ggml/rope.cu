// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

#include <cmath>

// passed by value
struct rope_params {
    float freq_base;
    float freq_scale;
    float magnitude;
    int   n_dims;
    float ramp[2]; // pairs below ramp[0] turn as trained, from ramp[1] on as scaled, between them partly
};

static __device__ void cos_sin(const rope_params & p, const int pair, const int position, const float factor, float & c, float & s) {
    const float turned = position * powf(p.freq_base, -2.0f*pair/p.n_dims) / factor;
    const float scaled = p.freq_scale * turned;
    const float along = min(1.0f, max(0.0f, (pair - p.ramp[0]) / max(0.001f, p.ramp[1] - p.ramp[0])));
    const float angle = turned + along*(scaled - turned);
    c = p.magnitude * cosf(angle);
    s = p.magnitude * sinf(angle);
}

// Turns pairs of each row by its position. split: the two are n_dims / 2 apart; otherwise they are adjacent.
template <bool forward, bool split, bool has_factors, typename T>
static __global__ void rope(const T * x, T * dst, const int ncols, const int heads, const int32_t * positions, const rope_params p,
                            const float * factors) {
    const int pair = blockDim.y*blockIdx.y + threadIdx.y;
    const int row = blockDim.x*blockIdx.x + threadIdx.x;
    if (2*pair >= ncols) {
        return;
    }
    x   += (int64_t) row*ncols;
    dst += (int64_t) row*ncols;
    if (2*pair >= p.n_dims) {
        dst[2*pair]     = x[2*pair];
        dst[2*pair + 1] = x[2*pair + 1];
        return;
    }

    float c;
    float s;
    cos_sin(p, pair, positions[row/heads], has_factors ? factors[pair] : 1.0f, c, s);
    if (!forward) {
        s = -s;
    }
    const int i = split ? pair : 2*pair;
    const int j = split ? pair + p.n_dims/2 : 2*pair + 1;
    const float a = x[i];
    const float b = x[j];
    dst[i] = a*c - b*s;
    dst[j] = a*s + b*c;
}
