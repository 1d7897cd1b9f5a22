// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What nvcc includes into every source by its own first header. The host engine does the same.
#pragma once
extern "C++" {  // the #include may be inside extern "C"
#include "cmath"
#include "cstdint"
#include "cstdio"
#include "cstdlib"
#include "cstring"
#include "ctime"
#include "limits.h"
#include "stddef.h"
#include "sys/types.h"
}

// NVRTC cannot compile host functions. Without the annotation they are compiled for the GPU, where no code calls them.
#undef __host__
#define __host__
