// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/processor/for_each_processor.hpp>

/// Macros that declare functions for host and device code.
#ifdef __CUDACC__
#define TROUPE_HOST_DEVICE __host__ __device__ inline
/// Silences nvcc's warning that a `__host__ __device__` template may call a host-only callable. Place it before the
/// template.
#define TROUPE_FOR_ANY_CALLABLE _Pragma("nv_exec_check_disable")
/// Like TROUPE_HOST_DEVICE, for functions that few kernels call: not inlined, because other kernels would then need
/// more registers. Kernels in whose text operations are constants define TROUPE_CONSTANT_OPERATIONS, and inline them.
#ifdef TROUPE_CONSTANT_OPERATIONS
#define TROUPE_HOST_DEVICE_NOINLINE TROUPE_HOST_DEVICE
#else
#define TROUPE_HOST_DEVICE_NOINLINE __host__ __device__ __noinline__
#endif
#else
#define TROUPE_HOST_DEVICE TROUPE_INLINE
#define TROUPE_HOST_DEVICE_NOINLINE TROUPE_INLINE
#define TROUPE_FOR_ANY_CALLABLE
#endif
