// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of `pack`.
#include "pack.cuh"

using namespace troupe::cutlass::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_cutlass_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#include "pack_list.inc"
