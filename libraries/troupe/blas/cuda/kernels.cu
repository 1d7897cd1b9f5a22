// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What cuBLAS has not, or has not the way our requests say it. All of them are plain: one that is bound by memory reads
// and writes neighbours side by side, and nothing is tuned to a chip.
#include "elements.cuh"
#include "products.cuh"
#include "reductions.cuh"
#include "rotations.cuh"

using namespace troupe::blas::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_blas_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#include "kernel_list.inc"
