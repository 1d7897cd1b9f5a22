// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/for_each_processor.hpp>

/// For functions that kernels call, too.
#ifdef __CUDACC__
#define TROUPE_EVERYWHERE __host__ __device__ inline
/// Before a template that calls what it is given, on the side on which that exists.
#define TROUPE_FOR_ANY_CALLABLE _Pragma("nv_exec_check_disable")
/// The same, for what few kernels compute: not inlined there, so that its registers burden no others.
#define TROUPE_EVERYWHERE_APART __host__ __device__ __noinline__
#else
#define TROUPE_EVERYWHERE TROUPE_INLINE
#define TROUPE_EVERYWHERE_APART TROUPE_INLINE
#define TROUPE_FOR_ANY_CALLABLE
#endif
