// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

/// Functions for kernels that compute with whole warps. All 32 lanes call the functions that exchange data, in the same
/// order. Each function states the elements of a small matrix that lane 4 * g + j (g < 8, j < 4) holds, in terms of g
/// and j.
namespace troupe::dnn::on_gpu {

/// 16 bytes: eight elements of a half type, in pairs.
struct eight_halves {
  std::uint32_t pair[4];
};

/// Returns a word with `low` and `high`, rounded to H, in its lower and upper half.
template <class H>
__device__ std::uint32_t pair_of(float low, float high) {
  std::uint32_t word;
  if constexpr (std::is_same_v<H, __half>) {
    const __half2 both = __floats2half2_rn(low, high);
    memcpy(&word, &both, sizeof word);
  } else {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    memcpy(&word, &both, sizeof word);
  }
  return word;
}

}  // namespace troupe::dnn::on_gpu

#ifdef __CUDACC__
/// Unrolls the loop that follows, so that the arrays that it indexes stay in registers. The compiler does not unroll
/// large loops by itself.
#define TROUPE_UNROLLED _Pragma("unroll")
namespace troupe::dnn::on_gpu {

/// Returns x of another lane.
template <class T>
__device__ T from_lane(T x, int lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}
/// Returns true if x is true in any lane.
__device__ inline bool any_lane(bool x) { return __any_sync(0xffffffffu, x) != 0; }
/// Waits for all threads of the block. Its warps may have called the other functions of this file different numbers of
/// times.
__device__ inline void wait_for_block() { __syncthreads(); }

/// Computes c += a * b, where a is 16 x 16 and b is 16 x 8. A lane's pairs of elements of a: row g, then row g + 8, in
/// columns 2j and 2j + 1; then the same rows in columns 2j + 8 and 2j + 9. Of b: in column g, rows 2j and 2j + 1, then
/// 2j + 8 and 2j + 9. Its elements of c: in row g, columns 2j and 2j + 1; then the same columns in row g + 8.
template <class H>
__device__ void multiply_small(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<H, __half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Transposes a matrix of 8 x 8 elements of 16 bits. A lane passes columns 2j and 2j + 1 of row g, and receives the
/// same elements of the transposed matrix.
__device__ inline std::uint32_t transposed(std::uint32_t pair) {
  std::uint32_t out;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
  return out;
}

/// Returns a word that consists of the lower halves, or of the upper halves, of two words.
template <bool Upper>
__device__ std::uint32_t halves_of(std::uint32_t first, std::uint32_t second) {
  return __byte_perm(first, second, Upper ? 0x7632 : 0x5410);
}

/// Reads 16 bytes that this kernel reads once. Precondition: nothing writes them while the kernel runs.
__device__ inline eight_halves read_once(const void* from) {
  eight_halves out;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(out.pair[0]), "=r"(out.pair[1]), "=r"(out.pair[2]), "=r"(out.pair[3])
               : "l"(from));
  return out;
}
/// Returns 2^x, within 2 units in the last place.
__device__ inline float power_of_two(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

}  // namespace troupe::dnn::on_gpu
#else
#define TROUPE_UNROLLED
#include "../testing/warps_on_host.hpp"
#endif
