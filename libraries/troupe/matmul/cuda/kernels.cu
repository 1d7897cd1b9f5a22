// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Kernels for what cuBLASLt lacks: epilogues that it does not fuse, copies of operands into a layout that it supports,
// and many small products in one launch.
#include "arrange.cuh"
#include "small.cuh"

using namespace troupe::matmul::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_matmul_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#include <troupe/epilogue/cuda/epilogue_kernels.inc>

#include "kernel_list.inc"
