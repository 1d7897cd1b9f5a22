// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of the driver API that kernels use. The driver's functions are host-only; two are declared, which macros that
// check calls name.
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__
#include "troupe_default_includes.h"

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef unsigned long long CUtexObject, CUsurfObject;
typedef struct CUtensorMap_st {
  alignas(128) cuuint64_t opaque[16];
} CUtensorMap;

extern "C++" {  // the #include may be inside extern "C"
TROUPE_HOST_FUNCTION(CUresult, cuGetErrorName, CUresult, const char**)
TROUPE_HOST_FUNCTION(CUresult, cuGetErrorString, CUresult, const char**)
}

#endif
