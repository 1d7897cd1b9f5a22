// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Code that the kernels of this folder share.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <float.h>
#include <cuda_runtime.h>

#define WARP 32U

template<class T>
__host__ __device__ T divide_up(T a, T b) {
    return (a + b - 1) / b;
}

// As many T as one instruction moves: 16 bytes.
template<class T>
struct alignas(16) pack {
    static constexpr const size_t size = sizeof(int4) / sizeof(T);
    T values[size];

    __device__ pack() = default;
    __device__ explicit pack(int4 bits) { memcpy(values, &bits, sizeof(bits)); }
    __device__ static pack filled(T with) {
        pack p;
        for (int k = 0; k < size; ++k) p.values[k] = with;
        return p;
    }
    __device__ int4 bits() const {
        int4 all;
        static_assert(sizeof(all) == sizeof(values), "a pack is an int4");
        memcpy(&all, values, sizeof(all));
        return all;
    }
    __device__ T& operator[](int k) { return values[k]; }
    __device__ const T& operator[](int k) const { return values[k]; }
};

template<class T>
__device__ pack<T> load(const T* from) { return pack<T>{*reinterpret_cast<const int4*>(from)}; }
template<class T>
__device__ pack<T> load_once(const T* from) { return pack<T>{__ldcs(reinterpret_cast<const int4*>(from))}; }
template<class T>
__device__ void store(T* to, pack<T> what) { *reinterpret_cast<int4*>(to) = what.bits(); }
template<class T>
__device__ void store_once(T* to, pack<T> what) { __stcs(reinterpret_cast<int4*>(to), what.bits()); }

__device__ inline float warp_sum(float v) {
    for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xFFFFFFFF, v, lanes);
    return v;
}
__device__ inline float warp_max(float v) {
    for (int lanes = 16; lanes > 0; lanes /= 2) v = fmaxf(v, __shfl_xor_sync(0xFFFFFFFF, v, lanes));
    return v;
}

// Reduces a value over the block, for all of its threads. `again`: the shared memory may be reused right afterwards.
using warp_function = float (*)(float);
template<warp_function of_warp>
__device__ inline float of_block(float v, bool again = false, float nothing = 0.0f) {
    __shared__ float of_warps[WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    v = of_warp(v);
    if (lane == 0) { of_warps[warp] = v; }
    __syncthreads();
    v = of_warp(lane < blockDim.x / WARP ? of_warps[lane] : nothing);
    if (again) { __syncthreads(); }
    return v;
}
