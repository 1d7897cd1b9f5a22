// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor.cuh"

template <int bytes>
static __device__ __forceinline__ void copy_16_async(void * to, const void * from) {
    static_assert(bytes == 16, "other sizes are not needed");
#ifdef HAS_ASYNC_COPIES
    const unsigned int at = (unsigned int) __cvta_generic_to_shared(to);
#if CUDART_VERSION >= 11040
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" : : "r"(at), "l"(from) : "memory");
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(at), "l"(from) : "memory");
#endif // CUDART_VERSION >= 11040
#else
    *(int4 *) to = *(const int4 *) from;
#endif // HAS_ASYNC_COPIES
}
static __device__ __forceinline__ void await_copies() {
#ifdef HAS_ASYNC_COPIES
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif // HAS_ASYNC_COPIES
}

// Rows of bytes times one column of bytes. A warp for each row.
template <int warps>
static __global__ void __launch_bounds__(32*warps, 1) mul_mat_vec_bytes(
        const int * __restrict__ rows, const int * __restrict__ column, int * __restrict__ out, const int words) {
    ASSUME(words % 32 == 0);
    extern __shared__ int4 tile[];
    const int * shared = (const int *) tile;
    wait_for_kernel_before();
    for (int i = 32*threadIdx.y + threadIdx.x; i < words/4; i += 32*warps) {
        copy_16_async<16>(tile + i, (const int4 *) column + i);
    }
    await_copies();
    __syncthreads();

    const int row = blockIdx.x*warps + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < words; i += 32) {
        sum = dot4(rows[row*words + i], shared[i], sum);
    }
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 0) {
        out[row] = sum;
    }
    let_next_kernel_begin();
}

// 16 x 32 bytes in rows times 32 x 8 bytes in columns, by one warp.
static __global__ void __launch_bounds__(32, 1) mul_mat_tile(
        const int * __restrict__ a, const int * __restrict__ b, int * __restrict__ c) {
    const int group = threadIdx.x/4, in_group = threadIdx.x%4;
    int2 upper = make_int2(0, 0), lower = make_int2(0, 0);
#ifdef HAS_MMA_OF_BYTES
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(upper.x), "+r"(upper.y), "+r"(lower.x), "+r"(lower.y)
        : "r"(a[8*group + in_group]), "r"(a[8*(group + 8) + in_group]), "r"(a[8*group + in_group + 4]),
          "r"(a[8*(group + 8) + in_group + 4]), "r"(b[8*group + in_group]), "r"(b[8*group + in_group + 4]));
#else
    for (int k = 0; k < 8; ++k) {
        const int left = b[8*(2*in_group) + k], right = b[8*(2*in_group + 1) + k];
        upper = make_int2(dot4(a[8*group + k], left, upper.x), dot4(a[8*group + k], right, upper.y));
        lower = make_int2(dot4(a[8*(group + 8) + k], left, lower.x), dot4(a[8*(group + 8) + k], right, lower.y));
    }
#endif // HAS_MMA_OF_BYTES
    ((int2 *) c)[4*group + in_group] = upper;
    ((int2 *) c)[4*(group + 8) + in_group] = lower;
}

// sets elements that are not above a limit to 0, in pairs
static __global__ void keep_above(const half2 * __restrict__ x, half2 * __restrict__ y, const half limit) {
    const int i = blockIdx.x*blockDim.x + threadIdx.x;
#if CUDART_VERSION >= VERSION_OF_HALF_MASKS
    const uint32_t mask = __hgt2_mask(x[i], make_half2(limit, limit));
    ((uint32_t *) y)[i] = ((const uint32_t *) x)[i] & mask;
#else
    y[i] = __hmul2(x[i], __hgt2(x[i], make_half2(limit, limit)));
#endif // CUDART_VERSION >= VERSION_OF_HALF_MASKS
}
