// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cfloat>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#define WARP_SIZE 32
#define UNUSED(x) (void)(x)

struct op_add {
    static __device__ __forceinline__ float apply(const float a, const float b) { return a + b; }
    static __device__ __forceinline__ float2 apply(const float2 a, const float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
};
struct op_max {
    static __device__ __forceinline__ float apply(const float a, const float b) { return fmaxf(a, b); }
};

static __device__ __forceinline__ float from_lane(const float v, const int lanes) {
    return __shfl_xor_sync(0xffffffff, v, lanes, WARP_SIZE);
}
static __device__ __forceinline__ float2 from_lane(const float2 v, const int lanes) {
    return make_float2(from_lane(v.x, lanes), from_lane(v.y, lanes));
}

template <class op, typename T>
static __device__ __forceinline__ T warp_all(T v) {
#pragma unroll
    for (int lanes = WARP_SIZE / 2; lanes > 0; lanes >>= 1) {
        v = op::apply(v, from_lane(v, lanes));
    }
    return v;
}
