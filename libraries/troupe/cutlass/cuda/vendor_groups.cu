// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The kernel that lists groups of rows for CUTLASS's products.
#include "vendor_groups.cuh"

using namespace troupe::cutlass::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...)                                                              \
  extern "C" __global__ void troupe_cutlass_##NAME(const __grid_constant__ ARGUMENTS arguments) { \
    __VA_ARGS__(arguments);                                                                       \
  }
#include "vendor_groups_list.inc"
