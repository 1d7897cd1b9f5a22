// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"
#include "quants.cuh"

// To 8 bits: one thread for each element, so one warp for each block. Rows are padded to whole blocks with zeros.
static __global__ void quantize_q8(const float * __restrict__ x, void * __restrict__ to, const int64_t ncols, const int64_t padded) {
    const int64_t col = (int64_t)blockDim.x*blockIdx.x + threadIdx.x;
    if (col >= padded) {
        return;
    }
    q8_block * block = (q8_block *) to + (blockIdx.y*padded + col)/PER_BLOCK;
    const int j = col % PER_BLOCK;

    const float v = col < ncols ? x[blockIdx.y*ncols + col] : 0.0f;
    const float largest = warp_all<op_max>(fabsf(v));
    const float sum = warp_all<op_add>(v);
    const float scale = largest / 127;

    block->quants[j] = largest == 0.0f ? 0 : roundf(v / scale);
    if (j == 0) {
        // halves by reference
        reinterpret_cast<half&>(block->scale_sum.x) = scale;
        reinterpret_cast<half&>(block->scale_sum.y) = sum;
    }
}

// To 4 bits: a thread for each block. The element that is farthest from 0 becomes exactly -8.
static __global__ void quantize_q4(const float * __restrict__ x, q4_block * __restrict__ to, const int nblocks) {
    const int b = blockDim.x*blockIdx.x + threadIdx.x;
    if (b >= nblocks) {
        return;
    }
    x  += b*PER_BLOCK;
    to += b;

    float farthest = 0.0f;
    for (int j = 0; j < PER_BLOCK; ++j) {
        farthest = fabsf(x[j]) > fabsf(farthest) ? x[j] : farthest;
    }
    const float scale = farthest / -8;
    const float inverse = scale ? 1.0f/scale : 0.0f;
    to->scale = scale;
#pragma unroll
    for (int j = 0; j < PER_BLOCK/2; ++j) {
        const uint8_t low  = min((int8_t) 15, (int8_t) (x[j]*inverse + 8.5f));
        const uint8_t high = min((int8_t) 15, (int8_t) (x[PER_BLOCK/2 + j]*inverse + 8.5f));
        to->quants[j] = low | high << 4;
    }
}
