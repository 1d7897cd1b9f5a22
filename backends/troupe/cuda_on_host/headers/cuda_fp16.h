// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's half: see troupe_cuda/narrow.h.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#pragma GCC system_header
#include "troupe_cuda/narrow.h"

TROUPE_NARROW_TYPES(__half, __half2, half_format, __half_raw, __half2_raw)
TROUPE_NARROW_ARITHMETIC(__half, __half2, half_format)
TROUPE_NARROW_CONVERSIONS(__half, __half2, half_format, half, half2)

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

TROUPE_INLINE __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
TROUPE_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

#endif
