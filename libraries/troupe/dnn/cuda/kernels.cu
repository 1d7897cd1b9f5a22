// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// All kernels of dnn. Those of operator steps read dense f32 or f64. `elements` reads any type and strides, and copies
// other tensors for them. Direct kernels (direct.hpp) read half types as stored.
#include "attention.cuh"
#include "attention_decoding.cuh"
#include "attention_gradient.cuh"
#include "blocks.cuh"
#include "columns.cuh"
#include "ctc.cuh"
#include "images.cuh"
#include "products.cuh"
#include "recurrence.cuh"
#include "rows.cuh"
#include "windows.cuh"

using namespace troupe::dnn;
using namespace troupe::dnn::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_dnn_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#define BOUNDED_KERNEL(NAME, THREADS, BLOCKS, ARGUMENTS, ...)          \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)        \
      troupe_dnn_##NAME(const __grid_constant__ ARGUMENTS arguments) { \
    __VA_ARGS__(arguments);                                            \
  }
#include "kernel_list.inc"
