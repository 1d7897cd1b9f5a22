// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's 8-bit numbers: see troupe_cuda/small_numbers.h.
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__
#pragma GCC system_header
#include "troupe_cuda/small_numbers.h"

typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace troupe_cuda {
using e4m3_format = signed_format<8, 3, 7, 0x7e, 0x7f, 0x7f>;
using e5m2_format = signed_format<8, 2, 15, 0x7b, 0x7d, 0x7c>;

TROUPE_INLINE __nv_fp8_storage_t to_fp8(float f, __nv_saturation_t s, __nv_fp8_interpretation_t as) {
  const bool saturates = s == __NV_SATFINITE;
  return static_cast<__nv_fp8_storage_t>(as == __NV_E4M3 ? e4m3_format::narrow(f, saturates)
                                                         : e5m2_format::narrow(f, saturates));
}
TROUPE_INLINE float from_fp8(unsigned code, __nv_fp8_interpretation_t as) {
  return as == __NV_E4M3 ? e4m3_format::widen(code) : e5m2_format::widen(code);
}
TROUPE_INLINE __nv_fp8_storage_t to_e8m0(float f, __nv_saturation_t s, cudaRoundMode rounding) {
  return static_cast<__nv_fp8_storage_t>(exponent_format::narrow(f, s == __NV_SATFINITE, rounding == cudaRoundPosInf));
}
TROUPE_INLINE __nv_fp8x2_storage_t two_codes(unsigned low, unsigned high) {
  return static_cast<__nv_fp8x2_storage_t>(low | high << 8);
}
}  // namespace troupe_cuda

TROUPE_SMALL_TYPES(__nv_fp8, e4m3, ::troupe_cuda::e4m3_format, __nv_fp8_storage_t, __nv_fp8x2_storage_t,
                   __nv_fp8x4_storage_t)
TROUPE_SMALL_TYPES(__nv_fp8, e5m2, ::troupe_cuda::e5m2_format, __nv_fp8_storage_t, __nv_fp8x2_storage_t,
                   __nv_fp8x4_storage_t)
TROUPE_SMALL_TYPES(__nv_fp8, e8m0, ::troupe_cuda::exponent_format, __nv_fp8_storage_t, __nv_fp8x2_storage_t,
                   __nv_fp8x4_storage_t)

// Converts each type to 8 bits, one number or two. The last argument is an interpretation or a way of rounding.
#define TROUPE_TO_8_BITS(kind, how, one_name, two_name, one, two, widen)                                           \
  TROUPE_INLINE __nv_fp8_storage_t __nv_cvt_##one_name##_to_##kind(one x, __nv_saturation_t saturate, how taken) { \
    return ::troupe_cuda::to_##kind(widen(x), saturate, taken);                                                    \
  }                                                                                                                \
  TROUPE_INLINE __nv_fp8x2_storage_t __nv_cvt_##two_name##_to_##kind##x2(two x, __nv_saturation_t saturate,        \
                                                                         how taken) {                              \
    return ::troupe_cuda::two_codes(::troupe_cuda::to_##kind(widen({x.x}), saturate, taken),                       \
                                    ::troupe_cuda::to_##kind(widen({x.y}), saturate, taken));                      \
  }
namespace troupe_cuda {
TROUPE_INLINE float half_value(__half_raw x) { return half_format::widen(x.x); }
TROUPE_INLINE float bfloat16_value(__nv_bfloat16_raw x) { return bfloat16_format::widen(x.x); }
TROUPE_INLINE float float_value(float x) { return x; }
}  // namespace troupe_cuda
TROUPE_TO_8_BITS(fp8, __nv_fp8_interpretation_t, float, float2, float, float2, ::troupe_cuda::float_value)
TROUPE_TO_8_BITS(fp8, __nv_fp8_interpretation_t, double, double2, double, double2, ::troupe_cuda::to_odd_float)
TROUPE_TO_8_BITS(fp8, __nv_fp8_interpretation_t, halfraw, halfraw2, __half_raw, __half2_raw, ::troupe_cuda::half_value)
TROUPE_TO_8_BITS(fp8, __nv_fp8_interpretation_t, bfloat16raw, bfloat16raw2, __nv_bfloat16_raw, __nv_bfloat162_raw,
                 ::troupe_cuda::bfloat16_value)
TROUPE_TO_8_BITS(e8m0, cudaRoundMode, float, float2, float, float2, ::troupe_cuda::float_value)
TROUPE_TO_8_BITS(e8m0, cudaRoundMode, double, double2, double, double2, ::troupe_cuda::to_odd_float)
TROUPE_TO_8_BITS(e8m0, cudaRoundMode, bfloat16raw, bfloat162raw, __nv_bfloat16_raw, __nv_bfloat162_raw,
                 ::troupe_cuda::bfloat16_value)
#undef TROUPE_TO_8_BITS

TROUPE_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t as) {
  return __half(::troupe_cuda::from_fp8(x, as));
}
TROUPE_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t as) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xff), as).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), as).x};
}
TROUPE_INLINE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return __nv_bfloat16(::troupe_cuda::exponent_format::widen(x));
}
TROUPE_INLINE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x & 0xff)).x,
          __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x >> 8)).x};
}

#endif
