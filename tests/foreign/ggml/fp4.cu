// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor.cuh"

#if CUDART_VERSION >= 11070
#include <cub/cub.cuh>
using namespace cub;

// on the host: the memory needed to sort blocks by their scales
static size_t bytes_for_sorting(const uint8_t * scales, int * order, const int n, cudaStream_t stream) {
    size_t bytes = 0;
    DeviceRadixSort::SortPairs(nullptr, bytes, scales, (uint8_t *) nullptr, order, order, n, 0, 8, stream);
    return bytes;
}
#endif // CUDART_VERSION >= 11070

// Blocks of 4-bit elements: 32 with a power of two as scale, or 4 times 16 with an 8-bit scale each.
typedef struct {
    uint8_t scale;
    uint8_t quants[16];
} mx_block;
static_assert(sizeof(mx_block) == 17, "padded");

typedef struct {
    EXTENSION union {
        struct {
            uint8_t scales[4];
            uint8_t quants[32];
        };
        int words[9];
    };
} nv_block;
static_assert(sizeof(nv_block) == 36, "padded");

// twice the value of each code
static constexpr __device__ int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// eight codes to eight bytes: those at even positions, and those at odd ones
static __device__ __forceinline__ int2 look_up(const int codes) {
    const uint32_t * table = (const uint32_t *) values;
    uint32_t out[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint32_t low = codes >> 4*half & 0x07070707, signs = codes >> 4*half & 0x08080808;
        const uint32_t selector = (low & 0x7) | (low >> 4 & 0x70) | (low >> 8 & 0x700) | (low >> 12 & 0x7000);
        const uint32_t positive = __byte_perm(table[0], table[1], selector);
        const uint32_t mask = __vcmpne4(signs, 0) & largest_word();
        out[half] = __vsub4(positive ^ mask, mask);
    }
    return make_int2(out[0], out[1]);
}

static __device__ __forceinline__ float power_of_two(const uint8_t x) {
#if CUDART_VERSION >= 12080
    const nv_bfloat16 e = __nv_cvt_e8m0_to_bf16raw(x);
    return (float) e;
#else
    const uint32_t bits = x == 0 ? 0x00400000 : (uint32_t) x << 23;
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
#endif // CUDART_VERSION >= 12080
}

static __device__ __forceinline__ float positive_scale(const uint8_t x) {
#ifdef HAS_FP8
    const uint32_t bits = x * (x != 0x7F && x != 0xFF); // NaN counts as 0
    const __nv_fp8_e4m3 f = *reinterpret_cast<const __nv_fp8_e4m3 *>(&bits);
    return static_cast<float>(f);
#else
    NO_CODE;
#endif // HAS_FP8
}

static __global__ void dequantize_mx(const mx_block * __restrict__ from, float * __restrict__ to, const int n) {
    wait_for_kernel_before();
    const int i = blockIdx.x*blockDim.x + threadIdx.x; // four bytes of codes for each thread
    if (i >= n/8) {
        return;
    }
    const mx_block & b = from[i/4];
    const float scale = 0.5f*power_of_two(b.scale);
    int codes;
    memcpy(&codes, b.quants + i%4*4, sizeof(codes));
    const int2 v = look_up(codes);
    const char4 low = *(const char4 *) &v.x, high = *(const char4 *) &v.y;
    float * at = to + i/4*32 + i%4*4;
    *(float4 *) at = make_float4(scale*low.x, scale*low.y, scale*low.z, scale*low.w);
    *(float4 *)(at + 16) = make_float4(scale*high.x, scale*high.y, scale*high.z, scale*high.w);
    let_next_kernel_begin();
}

static __global__ void dequantize_nv(const nv_block * __restrict__ from, nv_bfloat16 * __restrict__ to, const int n) {
    wait_for_kernel_before();
    const int i = blockIdx.x*blockDim.x + threadIdx.x; // two codes for each thread
    if (i >= n/2) {
        return;
    }
    const nv_block & b = from[i/32];
    const int in_block = i%32, group = in_block/8, j = in_block%8;
    const float scale = 0.5f*positive_scale(b.scales[group]);
    const uint8_t codes = b.quants[in_block];
    to[i/32*64 + group*16 + j]     = __float2bfloat16(scale*values[codes & 0xF]);
    to[i/32*64 + group*16 + j + 8] = __float2bfloat16(scale*values[codes >> 4]);
    let_next_kernel_begin();
}

// Four elements for each thread; eight threads share a scale.
static __global__ void __launch_bounds__(64, 1) quantize_mx(const float4 * __restrict__ from, mx_block * __restrict__ to) {
#ifdef HAS_FP4
    wait_for_kernel_before();
    const int i = blockIdx.x*blockDim.x + threadIdx.x, lane = i%8;
    const float4 v = from[i];
    float largest = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
#pragma unroll
    for (int lanes = 4; lanes > 0; lanes >>= 1) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, lanes, 8));
    }
    const __nv_fp8_storage_t scale = __nv_cvt_float_to_e8m0(largest/6.0f, __NV_SATFINITE, cudaRoundPosInf);
    const float inverse = 1.0f/power_of_two(scale);
    const __nv_fp4x4_e2m1 q(make_float4(v.x*inverse, v.y*inverse, v.z*inverse, v.w*inverse));
    const __nv_fp4x4_storage_t codes = q.__x;
    // lane j has elements 4j ... 4j + 3; byte k has element k in its low half and k + 16 in its high half
    const uint32_t other = __shfl_xor_sync(0xffffffff, (uint32_t) codes, 4, 8);
    if (lane == 0) {
        to[i/8].scale = scale;
    }
    if (lane < 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            to[i/8].quants[4*lane + k] = (codes >> 4*k & 0xF) | (other >> 4*k & 0xF) << 4;
        }
    }
#else
    NO_CODE;
#endif // HAS_FP4
}
