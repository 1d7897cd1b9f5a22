// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What CUDA C++ provides without any #include, as under NVRTC. Included before every source. CUDA's keywords are not
// here, because the translator replaces them.
#ifndef TROUPE_CUDA_H
#define TROUPE_CUDA_H
#pragma GCC system_header

// The C++ library adds functions to <math.h> that no kernel needs and that take longer to read than everything else.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#endif
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "troupe_cuda/image.h"
// The order matters: each header uses the ones before it.
#include "troupe_cuda/vector_types.h"

#include "troupe_cuda/state.h"

#include "troupe_cuda/math.h"

#include "troupe_cuda/intrinsics.h"

#include "troupe_cuda/video.h"

#include "troupe_cuda/rounding.h"

#include "troupe_cuda/atomics.h"

#include "troupe_cuda/barriers.h"

#include "troupe_cuda/warps.h"

#include "troupe_cuda/threads.h"

#include "troupe_cuda/table.h"

#include "troupe_cuda/variables.h"

#include "troupe_cuda/gpu_only.h"

// The macros that NVRTC defines for an architecture without special instructions.
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define __CUDA_ARCH__ 750
#define __TROUPE_HOST__ 1
// Include guards of a toolkit's headers, in case one of its headers includes another: this prelude replaces them.
#define __BUILTIN_TYPES_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_H__
#define __cuda_cuda_h__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_TYPES_H__
#define __DRIVER_TYPES_H__
#define __HOST_CONFIG_H__
#define __HOST_DEFINES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__
#define __VECTOR_TYPES_H__
#if !__has_builtin(__builtin_assume)
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#undef assert
#define assert(condition) ((condition) ? (void)0 : ::troupe_cuda::assertion_failed(#condition))

#endif
