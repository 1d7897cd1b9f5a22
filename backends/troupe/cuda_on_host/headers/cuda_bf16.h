// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's bfloat16: see troupe_cuda/narrow.h.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#pragma GCC system_header
#include "troupe_cuda/narrow.h"

TROUPE_NARROW_TYPES(__nv_bfloat16, __nv_bfloat162, bfloat16_format, __nv_bfloat16_raw, __nv_bfloat162_raw)
TROUPE_NARROW_ARITHMETIC(__nv_bfloat16, __nv_bfloat162, bfloat16_format)
TROUPE_NARROW_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16_format, bfloat16, bfloat162)

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

TROUPE_INLINE __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
TROUPE_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

#endif
