// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's 4-bit numbers, two in a byte: see troupe_cuda/small_numbers.h. A NaN becomes the largest number.
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__
#pragma GCC system_header
#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

namespace troupe_cuda {
using e2m1_format = signed_format<4, 1, 1, 7, 8, 7>;

TROUPE_INLINE __nv_fp4_storage_t to_fp4(float f, cudaRoundMode rounding) {
  return static_cast<__nv_fp4_storage_t>(rounding == cudaRoundZero ? e2m1_format::towards_zero(f)
                                                                   : e2m1_format::narrow(f));
}
}  // namespace troupe_cuda

TROUPE_SMALL_TYPES(__nv_fp4, e2m1, ::troupe_cuda::e2m1_format, __nv_fp4_storage_t, __nv_fp4x2_storage_t,
                   __nv_fp4x4_storage_t)

#define TROUPE_TO_FP4(one_name, two_name, one, two, widen)                                            \
  TROUPE_INLINE __nv_fp4_storage_t __nv_cvt_##one_name##_to_fp4(one x, __nv_fp4_interpretation_t,     \
                                                                cudaRoundMode rounding) {             \
    return ::troupe_cuda::to_fp4(widen(x), rounding);                                                 \
  }                                                                                                   \
  TROUPE_INLINE __nv_fp4x2_storage_t __nv_cvt_##two_name##_to_fp4x2(two x, __nv_fp4_interpretation_t, \
                                                                    cudaRoundMode rounding) {         \
    return static_cast<__nv_fp4x2_storage_t>(::troupe_cuda::to_fp4(widen({x.x}), rounding) |          \
                                             ::troupe_cuda::to_fp4(widen({x.y}), rounding) << 4);     \
  }
TROUPE_TO_FP4(float, float2, float, float2, ::troupe_cuda::float_value)
TROUPE_TO_FP4(double, double2, double, double2, ::troupe_cuda::to_odd_float)
TROUPE_TO_FP4(halfraw, halfraw2, __half_raw, __half2_raw, ::troupe_cuda::half_value)
TROUPE_TO_FP4(bfloat16raw, bfloat16raw2, __nv_bfloat16_raw, __nv_bfloat162_raw, ::troupe_cuda::bfloat16_value)
#undef TROUPE_TO_FP4

TROUPE_INLINE __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  return __half(::troupe_cuda::e2m1_format::widen(x & 0xf));
}
TROUPE_INLINE __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t as) {
  return {__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(x & 0xf), as).x,
          __nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(x >> 4), as).x};
}

#endif
