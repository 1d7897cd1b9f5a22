// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

// Features depend on the toolkit ...
#if CUDART_VERSION >= 11080
#include <cuda_fp8.h>
#define HAS_FP8
#define HAS_DEPENDENT_LAUNCHES
#endif // CUDART_VERSION >= 11080

#if CUDART_VERSION >= 12080
#include <cuda_fp4.h>
#define HAS_FP4
#endif // CUDART_VERSION >= 12080

#define VERSION_OF_HALF_MASKS 12000

#if CUDART_VERSION >= 11010
#define ASSUME(x) __builtin_assume(x)
#else
#define ASSUME(x)
#endif // CUDART_VERSION >= 11010

// ... and on the architecture
#define CC_DP4A   610
#define CC_AMPERE 800
#define CC_HOPPER 900

#if __CUDA_ARCH__ >= CC_AMPERE
#define HAS_MMA_OF_BYTES
#define HAS_ASYNC_COPIES
#endif // __CUDA_ARCH__ >= CC_AMPERE

#define EXTENSION __extension__

#ifdef __CUDA_ARCH_LIST__
template <class... Rest>
constexpr bool compiled_for(const int arch, const int first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) {
        return arch == first;
    } else {
        return arch == first || compiled_for(arch, rest...);
    }
}
static bool has_hopper() { return compiled_for(CC_HOPPER, __CUDA_ARCH_LIST__); }
#else
static bool has_hopper() { return false; }
#endif // __CUDA_ARCH_LIST__

// the macros that check calls, of host code only
static const char * text_of(const CUresult r) {
    const char * text;
    cuGetErrorString(r, &text);
    return text;
}

static __host__ __device__ constexpr uint32_t largest_word() {
    return std::numeric_limits<uint32_t>::max();
}

[[noreturn]]
static __device__ void no_code_for(const char * file, const int line, const char * function, const int arch) {
    printf("%s:%d: %s has no code for architecture %d\n", file, line, function, arch);
    __trap();
    (void) has_hopper;
}
#define NO_CODE no_code_for(__FILE__, __LINE__, __FUNCTION__, __CUDA_ARCH__)

// A kernel may begin before the previous kernel has ended.
static __device__ __forceinline__ void wait_for_kernel_before() {
#if defined(HAS_DEPENDENT_LAUNCHES) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= CC_HOPPER
    cudaGridDependencySynchronize();
#endif
}
static __device__ __forceinline__ void let_next_kernel_begin() {
#if defined(HAS_DEPENDENT_LAUNCHES) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= CC_HOPPER
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ __forceinline__ int sum_of_lanes(int x) {
#if __CUDA_ARCH__ >= CC_AMPERE
    return __reduce_add_sync(0xffffffff, x);
#else
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes >>= 1) {
        x += __shfl_xor_sync(0xffffffff, x, lanes, 32);
    }
    return x;
#endif // __CUDA_ARCH__ >= CC_AMPERE
}

static __device__ __forceinline__ int dot4(const int a, const int b, int c) {
#if __CUDA_ARCH__ >= CC_DP4A
    return __dp4a(a, b, c);
#else
    NO_CODE;
#endif // __CUDA_ARCH__ >= CC_DP4A
}
