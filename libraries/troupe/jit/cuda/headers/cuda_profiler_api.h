// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Profilers are told by the host when to begin and to end.
#pragma once
#include "cuda_runtime_api.h"

extern "C++" {  // whatever stands around the #include

TROUPE_HOST_FUNCTION_0(cudaError_t, cudaProfilerStart)
TROUPE_HOST_FUNCTION_0(cudaError_t, cudaProfilerStop)

}  // extern "C++"
