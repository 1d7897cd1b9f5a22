// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Operations that cuBLAS lacks, or does not compute as our requests specify. All kernels are simple: those whose time
// depends on memory have coalesced accesses, and none is tuned for a particular GPU.
#include "elements.cuh"
#include "products.cuh"
#include "reductions.cuh"
#include "rotations.cuh"

using namespace troupe::blas::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_blas_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#include "kernel_list.inc"
