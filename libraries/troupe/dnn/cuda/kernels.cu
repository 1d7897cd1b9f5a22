// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// All kernels of dnn. Kernels of operator steps read dense f32 or f64. The kernel `elements` reads any type and
// strides; it also copies other tensors to dense f32 or f64 for operator steps. Stored-type kernels
// (stored_type.hpp) read half types as they are stored.
#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_dnn_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#define BOUNDED_KERNEL(NAME, THREADS, BLOCKS, ARGUMENTS, ...)          \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)        \
      troupe_dnn_##NAME(const __grid_constant__ ARGUMENTS arguments) { \
    __VA_ARGS__(arguments);                                            \
  }

#include "kernels/attention.cuh"
#include "kernels/attention_decoding.cuh"
#include "kernels/attention_gradient.cuh"
#include "kernels/blocks.cuh"
#include "kernels/convolution.cuh"
#include "kernels/ctc.cuh"
#include "kernels/indexing.cuh"
#include "kernels/lines.cuh"
#include "kernels/pooling.cuh"
#include "kernels/products.cuh"
#include "kernels/recurrence.cuh"
#include "kernels/resampling.cuh"
#include "kernels/response_norm.cuh"
#include "kernels/rows.cuh"
#include "kernels/set_interpreter.cuh"
#include "kernels/stored_pooling.cuh"
