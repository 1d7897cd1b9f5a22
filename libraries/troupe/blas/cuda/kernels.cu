// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Operations that cuBLAS lacks, or does not compute as our requests specify. All kernels are simple: those whose time
// depends on memory have coalesced accesses, and none is tuned for a particular GPU.
#include "kernels/elements.cuh"
#include "kernels/products.cuh"
#include "kernels/reductions.cuh"
#include "kernels/rotations.cuh"

using namespace troupe::blas::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_blas_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#include "kernels/kernel_list.inc"
