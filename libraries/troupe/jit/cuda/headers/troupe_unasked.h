// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What nvcc has for sources without being asked, because its own first header includes it, and the host engine as well.
#pragma once
extern "C++" {  // whatever stands around the #include
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

// NVRTC has nowhere to put a function for the host. As a function without a word it is compiled for the GPU, where
// nobody calls it.
#undef __host__
#define __host__
