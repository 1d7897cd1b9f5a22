// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts and stops of profilers have no effect in a kernel: they are up to the host.
#pragma once
#include "cuda_runtime_api.h"

extern "C++" {  // the #include may be inside extern "C"

TROUPE_HOST_FUNCTION_0(cudaError_t, cudaProfilerStart)
TROUPE_HOST_FUNCTION_0(cudaError_t, cudaProfilerStop)

}  // extern "C++"
